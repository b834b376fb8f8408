-- The newest complete audit of each judge.
SELECT
    audits.audit_id,
    audits.judge_id,
    judge_names.judge,
    audits.plan_id,
    audits.started_at,
    audits.ended_at,
    audits.code_version,
    audits.seed
FROM audits
LEFT JOIN judge_names USING (judge_id)
WHERE audits.status = 'complete'
QUALIFY row_number() OVER (
    PARTITION BY audits.judge_id ORDER BY audits.ended_at DESC NULLS LAST, audits.audit_id
) = 1
