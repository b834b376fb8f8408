-- How alike each night's judge and the ones before it order the anchors (Kendall's tau with interval; drop: what it
-- lies below the noise of both): against the audit before and against the one approved then. The same judge: 1.
WITH pairs AS (
    SELECT nights.*, 'before' AS which, nights.before AS other FROM nights WHERE nights.before IS NOT NULL
    UNION ALL
    SELECT nights.*, 'approved', nights.approved FROM nights WHERE nights.approved IS NOT NULL
),
beside AS (
    SELECT pairs.*, other_night.judge_id AS other_judge
    FROM pairs
    JOIN nights AS other_night ON other_night.audit_id = pairs.other
),
figures AS (
    SELECT
        audit_id, subject, baseline, dimension,
        max("value") FILTER (measure = 'tau') AS tau,
        max(ci_low) FILTER (measure = 'tau') AS tau_low,
        max(ci_high) FILTER (measure = 'tau') AS tau_high,
        max("value") FILTER (measure = 'tau_drop') AS tau_drop,
        max(ci_low) FILTER (measure = 'tau_drop') AS drop_low,
        max(ci_high) FILTER (measure = 'tau_drop') AS drop_high
    FROM measures
    WHERE "check" = 'change' AND kind = '*' AND source = '*' AND measure IN ('tau', 'tau_drop')
    GROUP BY ALL
)
SELECT
    beside.night,
    beside.audit_id,
    beside.judge,
    beside.judge_id,
    beside.which AS against,
    beside.other AS other_audit,
    coalesce(figures.dimension, '*') AS dimension,
    CASE WHEN beside.judge_id = beside.other_judge THEN 1.0 ELSE figures.tau END AS "value",
    CASE WHEN beside.judge_id = beside.other_judge THEN 1.0 ELSE figures.tau_low END AS ci_low,
    CASE WHEN beside.judge_id = beside.other_judge THEN 1.0 ELSE figures.tau_high END AS ci_high,
    CASE WHEN beside.judge_id = beside.other_judge THEN 0.0 ELSE figures.tau_drop END AS tau_drop,
    CASE WHEN beside.judge_id = beside.other_judge THEN 0.0 ELSE figures.drop_low END AS drop_low,
    CASE WHEN beside.judge_id = beside.other_judge THEN 0.0 ELSE figures.drop_high END AS drop_high
FROM beside
LEFT JOIN figures
    ON figures.audit_id = beside.audit_id AND figures.subject = beside.judge_id
    AND figures.baseline = beside.other_judge
ORDER BY beside.judge, beside.night, beside.audit_id, beside.which, dimension
