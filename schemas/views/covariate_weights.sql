-- What each surface statistic explains of the newest scores inside a source (share of variance) and weighs (lift per SD).
SELECT
    latest_audit.judge,
    shares.source,
    shares.dimension,
    shares.kind AS statistic,
    shares."value" AS share,
    shares.ci_low AS share_low,
    shares.ci_high AS share_high,
    weights."value" AS weight,
    weights.ci_low AS weight_low,
    weights.ci_high AS weight_high,
    shares.n,
    shares.n_clusters
FROM measures AS shares
JOIN latest_audit USING (audit_id)
JOIN measures AS weights USING (audit_id, subject, baseline, "check", source, topic, dimension, axis, kind, rater)
WHERE shares.measure = 'covariate_share' AND weights.measure = 'covariate_weight' AND NOT shares.is_control
ORDER BY latest_audit.judge, shares.source, shares.dimension, shares."value" DESC, shares.kind
