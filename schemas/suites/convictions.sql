-- Is it convicted of a fault that it was not convicted of when it was approved?
-- On fresh pictures the same judge must be convicted twice: one look in twenty convicts by chance alone.
WITH sides AS (
    SELECT audits.audit_id, audits.judge_id, audits.plan_id, audits.ended_at
    FROM audits
    WHERE audits.status = 'complete' AND audits.audit_id IN ($candidate, $baseline)
),
told AS (
    SELECT
        verdicts.*,
        verdicts.verdict = 'fail' AND NOT verdicts.provisional AS convicted
    FROM verdicts
    JOIN sides USING (audit_id)
    WHERE verdicts.subject = sides.judge_id AND verdicts."check" NOT IN ('change', 'replay')
),
known AS (
    SELECT DISTINCT "check", measure, axis, dimension, finding FROM told WHERE audit_id = $baseline AND convicted
),
fresh AS (
    SELECT bool_and(own.judge_id = held.judge_id AND own.plan_id <> held.plan_id) AS fresh
    FROM sides AS own, sides AS held
    WHERE own.audit_id = $candidate AND held.audit_id = $baseline
),
earlier AS (
    SELECT DISTINCT verdicts."check", verdicts.measure, verdicts.axis, verdicts.dimension, verdicts.finding
    FROM nights
    JOIN verdicts ON verdicts.audit_id = nights.before AND verdicts.subject = nights.judge_id
    WHERE nights.audit_id = $candidate AND nights.before <> $baseline
        AND verdicts.verdict = 'fail' AND NOT verdicts.provisional
),
judged AS (
    SELECT
        told.*,
        told.convicted AND known.finding IS NULL AS unknown,
        (SELECT fresh FROM fresh) AND earlier.finding IS NULL AS once
    FROM told
    LEFT JOIN known USING ("check", measure, axis, dimension, finding)
    LEFT JOIN earlier USING ("check", measure, axis, dimension, finding)
    WHERE told.audit_id = $candidate
)
SELECT
    "check",
    measure,
    axis,
    dimension,
    count(*) FILTER (unknown AND NOT once) AS convicted_anew,
    count(*) FILTER (unknown AND once) AS convicted_once,
    coalesce(array_to_string(list(DISTINCT reason ORDER BY reason) FILTER (unknown), ' '), 'nothing new') AS told
FROM judged
GROUP BY ALL
ORDER BY ALL;
-- keys: what was asked of it now, and what was asked when it was approved.
SELECT DISTINCT verdicts."check", verdicts.measure, verdicts.axis, verdicts.dimension
FROM verdicts
JOIN audits USING (audit_id)
WHERE audits.status = 'complete'
    AND verdicts.audit_id IN ($candidate, $baseline)
    AND verdicts.subject = audits.judge_id
    AND verdicts."check" NOT IN ('change', 'replay');
