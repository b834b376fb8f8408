-- How often a judge that compares named the picture shown first, by what was compared, in its newest audit. Every pair is shown in both orders, so a half is what the pictures account for.
WITH shown AS (
    SELECT DISTINCT
        plan_id,
        probe_id,
        CASE WHEN axis = 'original' THEN 0 WHEN starts_with(axis, 'pair:') THEN 2 ELSE 1 END AS part
    FROM probes
),
kinds AS (
    SELECT plan_id, probe_id, max(part) AS part FROM shown GROUP BY plan_id, probe_id
)
SELECT
    latest_audit.judge,
    ['untouched', 'ladders', 'pairs'][1 + greatest(one.part, other.part)] AS kind,
    count(*) FILTER (comparisons.choice = 'left') AS "left",
    count(*) FILTER (comparisons.choice = 'right') AS "right",
    count(*) FILTER (comparisons.choice = 'tie') AS tie,
    count(*) FILTER (comparisons.state <> 'ok') AS unanswered,
    avg(CASE comparisons.choice WHEN 'left' THEN 1.0 WHEN 'tie' THEN 0.5 WHEN 'right' THEN 0.0 END) AS left_share,
    comparisons.judge_id
FROM comparisons
JOIN latest_audit USING (judge_id)
JOIN kinds AS one ON one.plan_id = latest_audit.plan_id AND one.probe_id = comparisons.left_probe
JOIN kinds AS other ON other.plan_id = latest_audit.plan_id AND other.probe_id = comparisons.right_probe
WHERE comparisons.state <> 'inert'
GROUP BY ALL
ORDER BY latest_audit.judge, kind
