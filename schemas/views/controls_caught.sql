-- The self-proof of each judge's newest audit: what every planted-fault control was convicted of.
SELECT
    latest_audit.judge AS audited_judge,
    judge_names.judge AS control,
    coalesce(
        list(DISTINCT verdicts."check" || ' ' || verdicts.axis ORDER BY verdicts."check" || ' ' || verdicts.axis)
            FILTER (verdicts.verdict = 'fail'),
        []
    ) AS convicted_of,
    count(*) FILTER (verdicts.verdict = 'pass') AS passed,
    count(*) FILTER (verdicts.verdict = 'inconclusive') AS inconclusive,
    count(*) FILTER (verdicts.verdict = 'missing') AS missing,
    verdicts.audit_id
FROM verdicts
JOIN latest_audit USING (audit_id)
LEFT JOIN judge_names ON judge_names.judge_id = verdicts.subject
WHERE verdicts.is_control
GROUP BY ALL
ORDER BY audited_judge, control
