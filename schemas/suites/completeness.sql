-- Is every picture that was due answered, in every source and at every rung, those of the approved audit among them?
SELECT
    items.source,
    probes.axis,
    probes.rung,
    count(*) AS planned,
    count(*) FILTER (calls.state IS NULL) AS unanswered,
    count(*) FILTER (calls.state = 'failed') AS failed
FROM audits
JOIN probes USING (plan_id)
JOIN items USING (plan_id, item_id)
LEFT JOIN calls
    ON calls.judge_id = audits.judge_id AND calls.probe_id = probes.probe_id AND calls.repeat = probes.repeat
WHERE audits.audit_id = $candidate AND audits.status = 'complete'
GROUP BY ALL;
-- keys: what the candidate's own plan asks, and the untouched pictures and rungs of the approved audit's plan.
SELECT DISTINCT items.source, probes.axis, probes.rung
FROM audits
JOIN probes USING (plan_id)
JOIN items USING (plan_id, item_id)
WHERE audits.audit_id = $candidate
    OR (
        audits.audit_id = $baseline
        AND (probes.axis = 'original' OR (probes.rung > 0 AND NOT starts_with(probes.axis, 'pair:')))
    );
