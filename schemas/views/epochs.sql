-- The epochs of judges whose weights are not pinned: since when the same name answers so, and what the change was.
WITH ranked AS (
    SELECT
        canary_nights.*,
        row_number() OVER (PARTITION BY lineage_id, epoch ORDER BY asking) AS place
    FROM canary_nights
)
SELECT
    coalesce(judge_names.judge, ranked.judge_id) AS judge,
    ranked.epoch,
    ranked.judge_id,
    min(ranked.decided_at) AS since,
    max(ranked.decided_at) AS last_asked,
    count(*) AS nights,
    sum(ranked.asked) AS canaries_asked,
    max(ranked.answer) FILTER (place = 1) AS opened_by,
    max(ranked.finding) FILTER (place = 1) AS finding,
    max(ranked.reason) FILTER (place = 1) AS reason,
    arg_max(ranked.services, ranked.asking) AS services,
    ranked.lineage_id
FROM ranked
LEFT JOIN judge_names USING (judge_id)
GROUP BY judge_names.judge, ranked.epoch, ranked.judge_id, ranked.lineage_id
ORDER BY judge_names.judge, ranked.lineage_id, ranked.epoch
