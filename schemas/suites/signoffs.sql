-- Has somebody signed for what nobody will look at? A sign-off for other rows, or one that has ended, is none.
SELECT
    $use AS "use",
    CASE
        WHEN $use <> 'acceptance' THEN 'not needed'
        WHEN count(signoffs.signoff_id) > 0 THEN 'signed'
        ELSE 'unsigned'
    END AS signed,
    coalesce(string_agg(signoffs.signer, ', ' ORDER BY signoffs.signed_at), 'nobody has signed') AS told
FROM audits
LEFT JOIN signoffs
    ON signoffs.audit_id = audits.audit_id
    AND signoffs.judge_id = audits.judge_id
    AND signoffs."use" = $use
    AND list_contains($signoffs, signoffs.signoff_id)
WHERE audits.audit_id = $candidate AND audits.status = 'complete';
-- keys: the use it is to be released for.
SELECT $use AS "use";
