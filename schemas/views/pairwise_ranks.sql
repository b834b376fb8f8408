-- Where each candidate stands among those of its prompt by all comparisons in both orders (Bradley-Terry), in its judge's newest audit: 1 = best, ties share the mean of their places. Strengths of different prompts are not comparable.
SELECT
    latest_audit.judge,
    strengths.prompt_id,
    strengths.place,
    strengths.item_id,
    strengths.source,
    strengths."value" AS strength,
    strengths.ci_low,
    strengths.ci_high,
    strengths.n AS comparisons,
    strengths.judge_id
FROM strengths
JOIN latest_audit USING (audit_id, judge_id)
WHERE NOT strengths.is_control
ORDER BY latest_audit.judge, strengths.prompt_id, strengths.place NULLS LAST, strengths.item_id
