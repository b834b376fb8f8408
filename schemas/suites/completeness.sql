-- Is every picture that was due answered, in every source and at every rung, those of the approved audit among them?
-- A judge that compares owes answers on every rung, and on the untouched pictures that it was shown beside others.
WITH candidate AS (
    SELECT
        audits.plan_id,
        audits.judge_id,
        coalesce(TRY_CAST(json_extract_string(judges.card, '$.compares') AS BOOLEAN), false) AS compares
    FROM audits
    LEFT JOIN judges USING (judge_id)
    WHERE audits.audit_id = $candidate AND audits.status = 'complete'
),
compared AS (
    SELECT
        probe_id,
        repeat,
        CASE WHEN bool_or(state = 'failed') THEN 'failed' ELSE min(state) END AS state
    FROM (
        SELECT unnest([left_probe, right_probe]) AS probe_id, repeat, state
        FROM comparisons
        JOIN candidate USING (judge_id)
    )
    GROUP BY probe_id, repeat
)
SELECT
    items.source,
    probes.axis,
    probes.rung,
    count(*) AS planned,
    count(*) FILTER (coalesce(calls.state, compared.state) IS NULL) AS unanswered,
    count(*) FILTER (coalesce(calls.state, compared.state) = 'failed') AS failed
FROM candidate
JOIN probes USING (plan_id)
JOIN items USING (plan_id, item_id)
LEFT JOIN calls
    ON calls.judge_id = candidate.judge_id AND calls.probe_id = probes.probe_id AND calls.repeat = probes.repeat
LEFT JOIN compared
    ON candidate.compares AND compared.probe_id = probes.probe_id AND compared.repeat = probes.repeat
WHERE NOT candidate.compares
    OR (probes.rung > 0 AND NOT starts_with(probes.axis, 'pair:'))
    OR (probes.axis = 'original' AND compared.state IS NOT NULL)
GROUP BY ALL
ORDER BY items.source, probes.axis, probes.rung;
-- keys: what the candidate's own plan asks, and the untouched pictures and rungs of the approved audit's plan.
WITH candidate AS (
    SELECT
        audits.audit_id,
        audits.judge_id,
        coalesce(TRY_CAST(json_extract_string(judges.card, '$.compares') AS BOOLEAN), false) AS compares
    FROM audits
    LEFT JOIN judges USING (judge_id)
    WHERE audits.audit_id = $candidate AND audits.status = 'complete'
),
shown AS (
    SELECT DISTINCT unnest([left_probe, right_probe]) AS probe_id FROM comparisons JOIN candidate USING (judge_id)
)
SELECT DISTINCT items.source, probes.axis, probes.rung
FROM audits
JOIN probes USING (plan_id)
JOIN items USING (plan_id, item_id)
LEFT JOIN candidate ON true
WHERE (
        audits.audit_id = $candidate
        AND (
            NOT coalesce(candidate.compares, false)
            OR (probes.rung > 0 AND NOT starts_with(probes.axis, 'pair:'))
            OR (probes.axis = 'original' AND probes.probe_id IN (SELECT probe_id FROM shown))
        )
    )
    OR (
        audits.audit_id = $baseline
        AND (probes.axis = 'original' OR (probes.rung > 0 AND NOT starts_with(probes.axis, 'pair:')))
    );
