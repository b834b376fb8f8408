-- What each judge's scale can carry, from its newest audit: every scale measure with its verdict if it has one.
SELECT
    latest_audit.judge,
    measures.measure,
    measures.source,
    measures.dimension,
    measures.kind,
    measures."value",
    measures.ci_low,
    measures.ci_high,
    measures.n,
    verdicts.verdict,
    verdicts.finding,
    verdicts.reason
FROM measures
JOIN latest_audit USING (audit_id)
LEFT JOIN verdicts USING (
    audit_id, subject, baseline, "check", measure, source, topic, dimension, axis, kind, rater
)
WHERE measures."check" = 'scale' AND NOT measures.is_control
ORDER BY latest_audit.judge, measures.measure, measures.source, measures.dimension, measures.kind
