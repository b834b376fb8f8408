-- What a score means: the percentile of each value among the untouched items of its source (100 = beats all).
WITH untouched AS (
    SELECT latest_audit.judge, responses.judge_id, responses.source, responses.dimension, responses."value",
        CASE WHEN coalesce(judge_names.higher_is_better, true) THEN 1 ELSE -1 END AS sign
    FROM responses
    JOIN latest_audit USING (judge_id, plan_id)
    LEFT JOIN judge_names USING (judge_id)
    WHERE responses.axis = 'original' AND responses.repeat = 0 AND responses.state = 'ok'
),
counted AS (
    SELECT judge, judge_id, source, dimension, "value", sign, count(*) AS ties
    FROM untouched
    GROUP BY ALL
)
SELECT
    judge,
    source,
    dimension,
    "value",
    100.0 * (sum(ties) OVER beaten - ties / 2.0) / sum(ties) OVER whole AS percentile,
    CAST(ties AS BIGINT) AS ties,
    CAST(sum(ties) OVER whole AS BIGINT) AS n,
    judge_id
FROM counted
WINDOW
    beaten AS (PARTITION BY judge_id, source, dimension ORDER BY sign * "value"),
    whole AS (PARTITION BY judge_id, source, dimension)
ORDER BY judge, source, dimension, percentile
