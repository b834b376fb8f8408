-- A score beside its probe and its original's score, controls too. Use responses unless you want controls.
WITH untouched AS (
    SELECT scores.judge_id, probes.plan_id, probes.item_id, scores.dimension, avg(scores."value") AS original_value
    FROM scores
    JOIN probes USING (probe_id, repeat)
    WHERE probes.axis = 'original' AND scores.state = 'ok'
    GROUP BY ALL
)
SELECT
    probes.plan_id,
    calls.judge_id,
    probes.item_id,
    items.source,
    items.topic,
    items.prompt_id,
    items."cluster",
    probes.axis,
    probes.rung,
    probes.strength,
    probes.repeat,
    probes.probe_id,
    coalesce(scores.dimension, '*') AS dimension,
    scores."value",
    untouched.original_value,
    scores."value" - untouched.original_value AS change,
    coalesce(scores.state, calls.state) AS state,
    calls.is_control
FROM probes
JOIN items USING (plan_id, item_id)
JOIN calls USING (probe_id, repeat)
LEFT JOIN scores USING (judge_id, probe_id, repeat)
LEFT JOIN untouched
    ON untouched.judge_id = calls.judge_id
    AND untouched.plan_id = probes.plan_id
    AND untouched.item_id = probes.item_id
    AND untouched.dimension = scores.dimension
