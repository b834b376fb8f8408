-- Changes that nobody sees, combined, in each judge's newest audit: axis names the recipe (@0, @1: chosen on that half
-- of the clusters), recipe says its strengths; without @ it was sounded on few items, to choose by.
WITH plans AS (
    SELECT
        latest_audit.judge,
        latest_audit.judge_id,
        latest_audit.plan_id AS audit_plan,
        unnest(from_json(json_extract(audits.configuration, '$.combined_ids'), '["VARCHAR"]')) AS plan_id
    FROM latest_audit
    JOIN audits ON audits.audit_id = latest_audit.audit_id AND audits.status = 'complete'
),
untouched AS (
    SELECT judge_id, plan_id, item_id, dimension, any_value(original_value) AS original_value
    FROM responses
    WHERE axis = 'original' AND repeat = 0
    GROUP BY ALL
)
SELECT
    plans.judge,
    probes.axis,
    probes.item_id,
    items.source,
    items."cluster",
    probes.strength AS visibility,
    probes.recipe,
    probes.repeat,
    coalesce(scores.dimension, '*') AS dimension,
    scores."value",
    untouched.original_value,
    scores."value" - untouched.original_value AS change,
    coalesce(scores.state, calls.state) AS state,
    probes.probe_id,
    plans.judge_id,
    plans.audit_plan AS plan_id
FROM plans
JOIN probes USING (plan_id)
JOIN items ON items.plan_id = plans.audit_plan AND items.item_id = probes.item_id
JOIN calls USING (probe_id, repeat, judge_id)
LEFT JOIN scores USING (judge_id, probe_id, repeat)
LEFT JOIN untouched
    ON untouched.judge_id = plans.judge_id
    AND untouched.plan_id = plans.audit_plan
    AND untouched.item_id = probes.item_id
    AND untouched.dimension = scores.dimension
ORDER BY plans.judge, probes.axis, probes.item_id, probes.repeat, dimension
