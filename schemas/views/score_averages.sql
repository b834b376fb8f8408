-- Average scores per source of each judge's newest audit; of a ranker none, but the reason (see ranks and percentiles).
WITH scales AS (
    SELECT
        latest_audit.judge_id,
        latest_audit.plan_id,
        latest_audit.judge,
        coalesce(bool_and(verdicts.verdict = 'pass'), false) AS absolute,
        coalesce(
            string_agg(DISTINCT verdicts.reason, ' ' ORDER BY verdicts.reason) FILTER (verdicts.verdict <> 'pass'),
            'Whether the scale is absolute was not examined.'
        ) AS reason
    FROM latest_audit
    LEFT JOIN verdicts
        ON verdicts.audit_id = latest_audit.audit_id
        AND verdicts.subject = latest_audit.judge_id
        AND verdicts."check" = 'scale'
        AND verdicts.measure = 'absolute'
    GROUP BY ALL
)
SELECT
    scales.judge,
    responses.source,
    responses.dimension,
    count(*) AS n,
    CASE WHEN scales.absolute THEN avg(responses."value") END AS average,
    CASE WHEN NOT scales.absolute THEN 'Averages and thresholds are refused: ' || scales.reason END AS refused,
    scales.judge_id
FROM responses
JOIN scales USING (judge_id, plan_id)
WHERE responses.axis = 'original' AND responses.repeat = 0 AND responses.state = 'ok'
GROUP BY scales.judge, responses.source, responses.dimension, scales.absolute, scales.reason, scales.judge_id
ORDER BY scales.judge, responses.source, responses.dimension
