-- Items to label next: those on which reviewers contradict the judge or one another, the most contradicted first.
WITH votes AS (
    SELECT
        judge AS judge_name,
        item_id,
        queue,
        decision_id,
        pack_id,
        count(*) FILTER (WHERE axis = '' AND dimension = 'overall') AS reviewers,
        count(*) FILTER (WHERE axis = '' AND dimension = 'overall' AND outcome = 'bad') AS bad,
        string_agg(DISTINCT dimension, ', ' ORDER BY dimension)
            FILTER (WHERE axis = '' AND dimension <> 'overall' AND outcome = 'bad') AS low_dimensions,
        string_agg(DISTINCT axis, ', ' ORDER BY axis) FILTER (WHERE axis <> '') AS axes,
        string_agg(DISTINCT reason, ' | ' ORDER BY reason) FILTER (WHERE reason <> '') AS said
    FROM reviews
    GROUP BY ALL
),
placed AS (
    SELECT
        votes.*,
        CASE
            WHEN votes.queue IN ('top', 'after') THEN 'good'
            WHEN votes.queue = 'bottom' THEN 'bad'
            WHEN decided.decision = 'accept' THEN 'good'
            WHEN decided.decision = 'reject' THEN 'bad'
        END AS judged
    FROM votes
    LEFT JOIN (SELECT decision_id, any_value(decision) AS decision FROM decisions GROUP BY decision_id) AS decided
        ON decided.decision_id = votes.decision_id
    WHERE votes.reviewers > 0
)
SELECT
    judge_name AS judge,
    item_id,
    CASE
        WHEN bad > 0 AND bad < reviewers THEN 'reviewers disagree'
        WHEN bad = reviewers THEN 'the judge likes it, people do not'
        ELSE 'people like it, the judge does not'
    END AS why,
    queue,
    bad,
    reviewers,
    low_dimensions,
    axes,
    said,
    decision_id,
    pack_id
FROM placed
WHERE (bad > 0 AND bad < reviewers) OR (judged = 'good' AND bad = reviewers) OR (judged = 'bad' AND bad = 0)
ORDER BY
    CASE WHEN judged = 'good' THEN bad / reviewers WHEN judged = 'bad' THEN 1 - bad / reviewers ELSE 0.5 END DESC,
    judge_name, item_id, queue, decision_id
