-- Pairs of anchors that a judge puts the other way round than the one before it, the gravest first: against people, across tiers, far apart.
SELECT
    judge_names.judge,
    coalesce(before.judge, rank_changes.baseline) AS judge_before,
    rank_changes.anchors_used,
    rank_changes.dimension,
    rank_changes.direction,
    rank_changes.across_tiers,
    rank_changes.firm,
    rank_changes.anchor_first,
    rank_changes.tier_first,
    rank_changes.anchor_second,
    rank_changes.tier_second,
    rank_changes.people_order,
    rank_changes.people_basis,
    rank_changes.old_rank_first,
    rank_changes.old_rank_second,
    rank_changes.new_rank_first,
    rank_changes.new_rank_second,
    rank_changes.audit_id,
    rank_changes.judge_id,
    rank_changes.baseline
FROM rank_changes
LEFT JOIN judge_names ON judge_names.judge_id = rank_changes.judge_id
LEFT JOIN judge_names AS before ON before.judge_id = rank_changes.baseline
ORDER BY
    judge_names.judge,
    rank_changes.dimension,
    list_position(['against_people', 'unknown', 'tie', 'with_people'], rank_changes.direction),
    NOT rank_changes.across_tiers,
    abs(rank_changes.new_rank_first - rank_changes.new_rank_second) DESC,
    rank_changes.anchor_first,
    rank_changes.anchor_second
