-- Complete audits in order, with the audit of the same judge's name before each and the one approved at the time.
WITH named AS (
    SELECT judge_id, min("name") AS judge FROM judge_labels GROUP BY judge_id
),
done AS (
    SELECT
        audits.ended_at AS night, audits.audit_id, audits.judge_id, audits.plan_id,
        coalesce(named.judge, audits.judge_id) AS judge
    FROM audits
    LEFT JOIN named USING (judge_id)
    WHERE audits.status = 'complete'
),
approved AS (
    SELECT approvals.approved_at, approvals.audit_id, coalesce(named.judge, approvals.judge_id) AS judge
    FROM approvals
    LEFT JOIN named USING (judge_id)
)
SELECT
    done.night,
    done.audit_id,
    done.judge,
    done.judge_id,
    done.plan_id,
    lag(done.audit_id) OVER (PARTITION BY done.judge ORDER BY done.night, done.audit_id) AS before,
    (
        SELECT arg_max(approved.audit_id, approved.approved_at)
        FROM approved
        WHERE approved.judge = done.judge AND approved.approved_at <= done.night
    ) AS approved
FROM done
ORDER BY done.judge, done.night, done.audit_id
