-- Items to label next: those on which reviewers contradict the judge or one another, the most contradicted first.
WITH newest AS (
    SELECT reviews.*
    FROM reviews
    JOIN imports USING (import_id)
    QUALIFY row_number() OVER (
        PARTITION BY pack_id, item_id, decision_id, queue, dimension, axis,
            CASE WHEN annotator_id = '' THEN import_id || review_id ELSE annotator_id END
        ORDER BY imports.imported_at DESC, import_id DESC
    ) = 1
),
votes AS (
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
    FROM newest
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
    coalesce(judge_names.judge, placed.judge_name) AS judge,
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
LEFT JOIN judge_names ON judge_names.judge_id = placed.judge_name
WHERE (bad > 0 AND bad < reviewers) OR (judged = 'good' AND bad = reviewers) OR (judged = 'bad' AND bad = 0)
ORDER BY
    CASE WHEN judged = 'good' THEN bad / reviewers WHEN judged = 'bad' THEN 1 - bad / reviewers ELSE 0.5 END DESC,
    placed.judge_name, item_id, queue, decision_id
