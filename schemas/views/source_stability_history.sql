-- What an axis is worth in one source beside the others, night by night, and what changed since the night before and
-- since the judge then approved. On the same pictures a change is what it is; on others it has the interval of both.
WITH held AS (
    SELECT audit_id, measure, dimension, axis, source, "value", ci_low, ci_high
    FROM measures
    WHERE "check" = 'stability' AND measure IN ('edge_drift', 'top_drift') AND NOT is_control AND "value" IS NOT NULL
),
beside AS (
    SELECT
        nights.*, held.* EXCLUDE (audit_id),
        earlier.plan_id AS before_plan, then_held.plan_id AS approved_plan
    FROM nights
    JOIN held USING (audit_id)
    LEFT JOIN nights AS earlier ON earlier.audit_id = nights.before
    LEFT JOIN nights AS then_held ON then_held.audit_id = nights.approved
),
widths AS (
    SELECT
        beside.*,
        before_held."value" AS before_value,
        approved_held."value" AS approved_value,
        CASE WHEN beside.plan_id = beside.before_plan THEN 0 ELSE
            sqrt(power(beside.ci_high - beside.ci_low, 2) + power(before_held.ci_high - before_held.ci_low, 2)) / 2
        END AS before_half,
        CASE WHEN beside.plan_id = beside.approved_plan THEN 0 ELSE
            sqrt(power(beside.ci_high - beside.ci_low, 2) + power(approved_held.ci_high - approved_held.ci_low, 2)) / 2
        END AS approved_half
    FROM beside
    LEFT JOIN held AS before_held
        ON before_held.audit_id = beside.before AND before_held.measure = beside.measure
        AND before_held.dimension = beside.dimension AND before_held.axis = beside.axis
        AND before_held.source = beside.source
    LEFT JOIN held AS approved_held
        ON approved_held.audit_id = beside.approved AND approved_held.measure = beside.measure
        AND approved_held.dimension = beside.dimension AND approved_held.axis = beside.axis
        AND approved_held.source = beside.source
)
SELECT
    night, audit_id, judge, judge_id, plan_id, measure, dimension, axis, source,
    "value", ci_low, ci_high,
    "before", before_value,
    "value" - before_value AS since_before,
    "value" - before_value - before_half AS since_before_low,
    "value" - before_value + before_half AS since_before_high,
    approved, approved_value,
    "value" - approved_value AS since_approved,
    "value" - approved_value - approved_half AS since_approved_low,
    "value" - approved_value + approved_half AS since_approved_high
FROM widths
ORDER BY judge, night, audit_id, measure, dimension, axis, source
