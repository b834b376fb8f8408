-- The newest audit of each judge: what every dimension does on every kind of damage, built and hand-made pairs apart,
-- in lift (the share of its source's untouched images that a damaged image falls behind) and in robust SDs.
SELECT
    judge,
    CASE WHEN ends_with(lift.kind, ' (constructed)') THEN 'constructed' ELSE 'hand-made' END AS origin,
    replace(lift.kind, ' (constructed)', '') AS damage,
    lift.dimension,
    lift."value" AS lift,
    lift.ci_low,
    lift.ci_high,
    sd."value" AS sds,
    lift.n AS pairs,
    verdicts.verdict,
    verdicts.finding
FROM measures AS lift
JOIN latest_audit ON latest_audit.audit_id = lift.audit_id AND latest_audit.judge_id = lift.subject
JOIN measures AS sd
    ON sd.audit_id = lift.audit_id AND sd.subject = lift.subject AND sd.measure = 'response_sd'
    AND sd.kind = lift.kind AND sd.dimension = lift.dimension
LEFT JOIN verdicts
    ON verdicts.audit_id = lift.audit_id AND verdicts.subject = lift.subject AND verdicts.measure = lift.measure
    AND verdicts.kind = lift.kind AND verdicts.dimension = lift.dimension
WHERE lift."check" = 'mismatch' AND lift.measure = 'response_lift'
ORDER BY judge, origin, damage, lift.dimension
