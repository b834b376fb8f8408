-- Where each untouched item stands among those of its source in its judge's newest audit (1 = best; ties share a place).
SELECT
    latest_audit.judge,
    responses.source,
    responses.dimension,
    rank() OVER beaten AS place,
    percentiles.percentile,
    percentiles.n,
    responses.item_id,
    responses."value",
    responses.judge_id
FROM responses
JOIN latest_audit USING (judge_id, plan_id)
LEFT JOIN judge_names USING (judge_id)
JOIN percentiles
    ON percentiles.judge_id = responses.judge_id
    AND percentiles.source = responses.source
    AND percentiles.dimension = responses.dimension
    AND percentiles."value" = responses."value"
WHERE responses.axis = 'original' AND responses.repeat = 0 AND responses.state = 'ok'
WINDOW beaten AS (
    PARTITION BY responses.judge_id, responses.source, responses.dimension
    ORDER BY CASE WHEN coalesce(judge_names.higher_is_better, true) THEN -1 ELSE 1 END * responses."value"
)
ORDER BY latest_audit.judge, responses.source, responses.dimension, place, responses.item_id
