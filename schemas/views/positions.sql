-- The position that each complete audit gave its judge, newest first: the judge's history.
SELECT
    audits.ended_at,
    judge_names.judge,
    standings.standing AS position,
    standings.reasons,
    standings.missing,
    standings.audit_id,
    standings.judge_id
FROM standings
JOIN audits USING (audit_id)
LEFT JOIN judge_names ON judge_names.judge_id = standings.judge_id
WHERE standings.use = 'position' AND audits.status = 'complete' AND NOT standings.is_control
ORDER BY audits.ended_at DESC, standings.audit_id
