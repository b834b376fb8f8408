-- Does a fault stand suspected that nobody has read yet? For a reward an optimiser would ride it at once.
SELECT
    verdicts."check",
    verdicts.axis,
    count(*) FILTER ($use = 'reward' AND verdicts.verdict = 'fail' AND verdicts.provisional) AS suspected,
    'likely fault, not yet read: '
        || array_to_string(list(DISTINCT verdicts.reason ORDER BY verdicts.reason)
            FILTER (verdicts.verdict = 'fail' AND verdicts.provisional), ' ') AS told
FROM verdicts
JOIN audits USING (audit_id)
WHERE verdicts.audit_id = $candidate AND audits.status = 'complete' AND verdicts.subject = audits.judge_id
    AND verdicts."check" NOT IN ('change', 'replay')
GROUP BY ALL
ORDER BY ALL;
-- keys: three questions on every ladder that was climbed, and whatever else was asked.
SELECT DISTINCT "check", probes.axis
FROM audits
JOIN probes USING (plan_id)
CROSS JOIN unnest(['premature', 'jitter', 'top_response']) AS asked ("check")
WHERE audits.audit_id = $candidate AND probes.rung > 0 AND NOT starts_with(probes.axis, 'pair:')
UNION
SELECT verdicts."check", verdicts.axis
FROM verdicts
JOIN audits USING (audit_id)
WHERE verdicts.audit_id = $candidate AND verdicts.subject = audits.judge_id
    AND verdicts."check" NOT IN ('change', 'replay');
