-- The anchors of each judge's newest audit: its score beside tier, kind and people's mean label (higher is better).
WITH labelled AS (
    SELECT set_id, anchor_version, anchor_id, dimension,
        avg(CASE WHEN higher_is_better THEN "value" ELSE -"value" END) AS label,
        count(*) AS annotators
    FROM anchor_labels
    GROUP BY ALL
)
SELECT
    latest_audit.judge,
    anchors.anchor_id,
    anchors.tier,
    anchors.kind,
    anchors.source,
    responses.dimension,
    responses.repeat,
    responses."value",
    responses.state,
    labelled.label,
    labelled.annotators,
    audits.anchor_version,
    responses.judge_id
FROM latest_audit
JOIN audits ON audits.audit_id = latest_audit.audit_id AND audits.status = 'complete'
JOIN anchors ON anchors.set_id = audits.anchor_set AND anchors.anchor_version = audits.anchor_version
JOIN responses
    ON responses.judge_id = latest_audit.judge_id
    AND responses.plan_id = latest_audit.plan_id
    AND responses.item_id = anchors.item_id
    AND responses.axis = 'anchor'
LEFT JOIN labelled
    ON labelled.set_id = anchors.set_id
    AND labelled.anchor_version = anchors.anchor_version
    AND labelled.anchor_id = anchors.anchor_id
    AND labelled.dimension = responses.dimension
ORDER BY latest_audit.judge, anchors.anchor_id, responses.dimension, responses.repeat
