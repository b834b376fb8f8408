-- Does an axis still move the score as much in each source, beside the others, as the night before and when approved?
-- A slow drift stays inside the margin every night and leaves it against the approved judge.
WITH tonight AS (
    SELECT * FROM source_stability_history WHERE audit_id = $candidate
),
held AS (
    SELECT * FROM source_stability_history WHERE audit_id = $baseline
),
changes AS (
    SELECT
        'the night before' AS against, measure, dimension, axis, source,
        since_before AS change, since_before_low AS low, since_before_high AS high
    FROM tonight
    WHERE before_value IS NOT NULL
    UNION ALL
    SELECT
        'the approved judge', tonight.measure, tonight.dimension, tonight.axis, tonight.source,
        tonight.value - held.value,
        tonight.value - held.value - CASE WHEN tonight.plan_id = held.plan_id THEN 0 ELSE
            sqrt(power(tonight.ci_high - tonight.ci_low, 2) + power(held.ci_high - held.ci_low, 2)) / 2 END,
        tonight.value - held.value + CASE WHEN tonight.plan_id = held.plan_id THEN 0 ELSE
            sqrt(power(tonight.ci_high - tonight.ci_low, 2) + power(held.ci_high - held.ci_low, 2)) / 2 END
    FROM tonight
    JOIN held USING (measure, dimension, axis, source)
)
SELECT
    *,
    CASE WHEN low > 0 THEN low WHEN high < 0 THEN high WHEN low IS NOT NULL AND high IS NOT NULL THEN 0.0 END
        AS sure_change,
    axis || ' in ' || source || ', ' || replace(measure, '_drift', '') || ' response: ' || format('{:+.2f}', change)
        || ' lift since ' || against AS told
FROM changes
ORDER BY abs(sure_change) DESC NULLS LAST, against, measure, dimension, axis, source;
-- keys: every axis and source of the night before and of the approved audit.
SELECT 'the night before' AS against, measure, dimension, axis, source
FROM source_stability_history
WHERE audit_id = (SELECT before FROM nights WHERE audit_id = $candidate)
UNION ALL
SELECT 'the approved judge', measure, dimension, axis, source
FROM source_stability_history
WHERE audit_id = $baseline;
