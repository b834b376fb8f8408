-- Does the candidate order the anchors as the judge before it did, or more as people do?
-- Where the anchors changed too, both judges are held against each other on the old anchors first.
WITH own AS (
    SELECT * FROM audits WHERE audit_id = $candidate AND status = 'complete'
),
sides AS (
    SELECT 'the approved judge' AS against, held.*
    FROM audits AS held
    WHERE held.audit_id = $baseline AND held.status = 'complete'
    UNION ALL
    SELECT 'the night before', held.*
    FROM nights
    JOIN audits AS held ON held.audit_id = nights.before AND held.status = 'complete'
    WHERE nights.audit_id = $candidate AND nights.before <> $baseline
),
told AS (
    SELECT
        sides.against,
        verdicts.kind,
        verdicts.dimension,
        max(verdicts.verdict) FILTER (measure = 'tau_drop') AS same,
        max(verdicts.verdict) FILTER (measure = 'net_against_people') AS loss,
        max(verdicts.ci_high) FILTER (measure = 'net_against_people') AS most_lost,
        string_agg(verdicts.reason, ' ' ORDER BY measure DESC) FILTER (verdicts.verdict <> 'pass') AS reason
    FROM own
    JOIN sides ON sides.judge_id <> own.judge_id
    JOIN verdicts
        ON verdicts.audit_id = own.audit_id AND verdicts.subject = own.judge_id AND verdicts.baseline = sides.judge_id
    WHERE verdicts."check" = 'change'
    GROUP BY ALL
),
answered AS (
    SELECT
        *,
        CASE
            WHEN loss = 'fail' THEN 'against people'
            WHEN same = 'pass' THEN 'same'
            WHEN same IN ('fail', 'inconclusive') AND loss = 'pass' AND most_lost < 0 THEN 'better'
            WHEN same = 'fail' THEN 'changed'
            WHEN same = 'inconclusive' THEN 'not shown to be the same'
        END AS answer
    FROM told
),
worst AS (
    SELECT
        against,
        kind,
        coalesce(
            max(answer) FILTER (answer = 'against people'),
            max(answer) FILTER (answer = 'changed'),
            CASE WHEN bool_or(answer IS NULL) THEN 'unknown' END,
            max(answer) FILTER (answer = 'not shown to be the same'),
            max(answer)
        ) AS answer,
        string_agg(reason, ' ' ORDER BY dimension) AS reason
    FROM answered
    GROUP BY ALL
),
turned AS (
    SELECT
        sides.against,
        rank_changes.*,
        direction <> 'against_people' AS mild,
        old_rank_second - old_rank_first + new_rank_first - new_rank_second AS moved
    FROM own
    JOIN sides ON sides.judge_id <> own.judge_id
    JOIN rank_changes ON rank_changes.judge_id = own.judge_id AND rank_changes.baseline = sides.judge_id
),
one_each AS (
    SELECT * FROM turned
    QUALIFY row_number() OVER (
        PARTITION BY against, anchor_first ORDER BY mild, NOT across_tiers, moved DESC, anchor_second, dimension
    ) = 1
),
named AS (
    SELECT
        against,
        list(
            replace(anchor_first, 'anchor:', '') || coalesce(' (' || tier_first || ')', '') || ' now below '
            || replace(anchor_second, 'anchor:', '') || coalesce(' (' || tier_second || ')', '')
            || CASE direction WHEN 'against_people' THEN ', against people' WHEN 'with_people' THEN ', with people'
                ELSE '' END
            ORDER BY mild, NOT across_tiers, moved DESC, anchor_first, anchor_second
        )[:5] AS pairs
    FROM one_each
    GROUP BY against
),
flips AS (
    SELECT named.*, counted.n
    FROM named
    JOIN (SELECT against, count(*) AS n FROM turned GROUP BY against) AS counted USING (against)
)
SELECT
    worst.against,
    worst.kind,
    nullif(worst.answer, 'unknown') AS answer,
    CASE WHEN worst.kind <> '*' AND current.answer <> worst.answer THEN 'no' ELSE 'yes' END AS agrees,
    'Against ' || worst.against || CASE worst.kind WHEN '*' THEN '' ELSE ' (' || worst.kind || ')' END || ': '
        || worst.answer || '.'
        || coalesce(' Turned round: ' || array_to_string(flips.pairs, '; ')
            || CASE WHEN flips.n > len(flips.pairs) THEN '; and ' || (flips.n - len(flips.pairs)) || ' more' ELSE '' END || '.', '')
        || coalesce(' ' || replace(worst.reason, 'anchor:', ''), '') AS told
FROM worst
LEFT JOIN worst AS current ON current.against = worst.against AND current.kind = '*'
LEFT JOIN flips ON flips.against = worst.against
UNION ALL
SELECT sides.against, '*', 'same', 'yes', 'Against ' || sides.against || ': the same judge.'
FROM own
JOIN sides ON sides.judge_id = own.judge_id;
-- keys: the approved judge and that of the night before, and both anchor versions where the anchors changed as well.
SELECT sides.against, kinds.kind
FROM audits AS own
JOIN (
    SELECT 'the approved judge' AS against, * FROM audits WHERE audit_id = $baseline AND status = 'complete'
    UNION ALL
    SELECT 'the night before', audits.*
    FROM nights
    JOIN audits ON audits.audit_id = nights.before AND audits.status = 'complete'
    WHERE nights.audit_id = $candidate AND nights.before <> $baseline
) AS sides ON true
CROSS JOIN unnest(['*', 'old anchors']) AS kinds (kind)
WHERE own.audit_id = $candidate
    AND own.status = 'complete'
    AND (kinds.kind = '*' OR (
        own.judge_id <> sides.judge_id
        AND own.anchor_set IS NOT NULL
        AND sides.anchor_set IS NOT NULL
        AND (own.anchor_set <> sides.anchor_set OR own.anchor_version <> sides.anchor_version)
    ));
