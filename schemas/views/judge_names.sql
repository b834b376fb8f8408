-- A judge beside its labels, controls too: what to call it (an epoch after the first by its number), and which way its
-- scores point.
SELECT
    judges.judge_id,
    coalesce(
        string_agg(DISTINCT trim(judge_labels."name" || ' ' || coalesce(judge_labels."version", '')), ' / '
            ORDER BY trim(judge_labels."name" || ' ' || coalesce(judge_labels."version", ''))),
        judges.judge_id
    ) || coalesce(' · epoch ' || nullif(TRY_CAST(json_extract_string(judges.card, '$.epoch') AS BIGINT), 0), '') AS judge,
    judges.kind,
    coalesce(TRY_CAST(json_extract_string(judges.card, '$.higher_is_better') AS BOOLEAN), true) AS higher_is_better,
    judges.is_control
FROM judges
LEFT JOIN judge_labels USING (judge_id)
GROUP BY judges.judge_id, judges.kind, judges.card, judges.is_control
