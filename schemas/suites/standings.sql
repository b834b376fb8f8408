-- Has the judge earned what it is to be released for?
SELECT
    $use AS "use",
    CASE
        WHEN $use <> 'screening' THEN standings.standing
        WHEN standings.standing = 'none' THEN 'barred'
        ELSE 'allowed'
    END AS standing,
    CASE WHEN $use = 'screening' THEN 'position' ELSE $use END || ' ' || standings.standing || ': '
        || array_to_string(list_concat(coalesce(reasons, []), coalesce(missing, [])), ' ') AS told
FROM standings
JOIN audits USING (audit_id, judge_id)
WHERE standings.audit_id = $candidate
    AND audits.status = 'complete'
    AND NOT standings.is_control
    AND standings."use" = CASE WHEN $use = 'screening' THEN 'position' ELSE $use END;
-- keys: the use it is to be released for.
SELECT $use AS "use";
