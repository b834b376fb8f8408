-- Items that climb most on an axis, five each: the rung with the largest gain in percentile over the
-- untouched items of the source, the item's own cluster left out (lift 0.10 = overtakes a tenth of them).
WITH answers AS (
    SELECT responses.*, latest_audit.judge,
        CASE WHEN coalesce(judge_names.higher_is_better, true) THEN 1 ELSE -1 END AS sign
    FROM responses
    JOIN latest_audit USING (judge_id, plan_id)
    LEFT JOIN judge_names USING (judge_id)
    WHERE responses.state = 'ok'
),
best AS (
    SELECT *
    FROM answers
    WHERE rung > 0 AND NOT starts_with(axis, 'pair:') AND repeat = 0 AND original_value IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY judge_id, item_id, dimension, axis ORDER BY sign * change DESC, rung
    ) = 1
),
lifted AS (
    SELECT best.judge, best.judge_id, best.axis, best.dimension, best.item_id, best.source, best.rung,
        best.strength, best.original_value, best."value", best.probe_id,
        avg(
            (sign(best.sign * (best."value" - rest."value"))
                - sign(best.sign * (best.original_value - rest."value"))) / 2.0
        ) AS lift
    FROM best
    JOIN answers AS rest
        ON rest.judge_id = best.judge_id AND rest.source = best.source AND rest.dimension = best.dimension
        AND rest.axis = 'original' AND rest.repeat = 0 AND rest."cluster" <> best."cluster"
    GROUP BY ALL
)
SELECT
    judge, axis, dimension,
    row_number() OVER climb AS place,
    item_id, source, rung, strength, original_value, "value", lift, probe_id, judge_id
FROM lifted
WINDOW climb AS (PARTITION BY judge_id, axis, dimension ORDER BY lift DESC, item_id)
QUALIFY row_number() OVER climb <= 5
ORDER BY judge, axis, dimension, place
