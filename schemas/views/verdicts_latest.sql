-- Every verdict of each judge's newest complete audit, faults first.
SELECT latest_audit.judge, verdicts.* EXCLUDE (is_control)
FROM verdicts
JOIN latest_audit USING (audit_id)
WHERE NOT verdicts.is_control
ORDER BY
    latest_audit.judge,
    list_position(['fail', 'inconclusive', 'missing', 'pass'], verdicts.verdict),
    verdicts."check",
    verdicts.axis,
    verdicts.measure
