"""The rows of every table, as types, written by `make rows` from columns.yaml and tables.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from datetime import datetime


class ItemsRow(TypedDict, total=False):
    """An image-prompt pair as normalised on load."""

    plan_id: str
    item_id: str
    source: str
    topic: str
    prompt: str
    prompt_id: str
    cluster: str
    uri: str
    file_digest: str
    pixel_digest: str | None
    width: int | None
    height: int | None
    frames: int
    image_notes: str
    file_bytes: int
    face_count: int | None
    mask_uri: str | None
    mask_digest: str | None
    part_box: str | None


class RefusalsRow(TypedDict, total=False):
    """A row of an input file that was left out, and why."""

    plan_id: str
    file: str
    row: int
    column: str
    item_id: str
    reason: str


class ProbesRow(TypedDict, total=False):
    """A planned variant of an item."""

    plan_id: str
    probe_id: str
    item_id: str
    axis: str
    rung: int
    strength: float
    recipe_version: int
    repeat: int
    prompt: str
    region: str | None
    recipe: str | None


class MismatchesRow(TypedDict, total=False):
    """A pair as an audit plans it, with what was done to its damaged member, where, and how hard it is to notice."""

    plan_id: str
    pair_id: str
    kind: str
    variant: str
    intact: str
    damaged: str
    rung: int
    probe_id: str
    source: str
    topic: str
    cluster: str
    constructed: bool
    hold: list[str] | None
    prompt: str
    pixel_digest: str | None
    difficulty: float | None
    told: str
    rule: str
    region_box: str | None
    frame: str | None
    honest_limits: list[str]


class UnsuitedRow(TypedDict, total=False):
    """An item of which no pair of a kind could be built, and why."""

    plan_id: str
    kind: str
    item_id: str
    source: str
    reason: str


class ZonesRow(TypedDict, total=False):
    """What people (or, until they have read, two visual-difference models) see of an item's ladder."""

    plan_id: str
    zones_id: str
    item_id: str
    axis: str
    perceptible_low: float | None
    perceptible_high: float | None
    objectionable: float | None
    provisional: bool
    basis: str


class JudgesRow(TypedDict, total=False):
    """One judge_id."""

    judge_id: str
    kind: str
    card: str
    is_control: bool
    registered_at: datetime


class JudgeLabelsRow(TypedDict, total=False):
    """A name and version for a judge_id."""

    judge_id: str
    name: str
    version: str
    origin: str | None
    is_control: bool


class CallsRow(TypedDict, total=False):
    """One request to a judge."""

    judge_id: str
    probe_id: str
    repeat: int
    runtime_id: str
    renderer: str
    state: str | None
    raw_reply: str | None
    attempts: int
    latency_ms: float | None
    tokens: int | None
    cost: float | None
    pixel_digest: str | None
    called_at: datetime
    served_by: str | None
    is_control: bool


class ScoresRow(TypedDict, total=False):
    """One dimension of one call."""

    judge_id: str
    probe_id: str
    repeat: int
    dimension: str
    value: float | None
    state: str | None
    parser_version: str
    is_control: bool


class ComparisonsRow(TypedDict, total=False):
    """One request to a judge that compares two pictures, in one of the two orders."""

    judge_id: str
    left_probe: str
    right_probe: str
    repeat: int
    choice: str | None
    runtime_id: str
    renderer: str
    state: str | None
    raw_reply: str | None
    attempts: int
    latency_ms: float | None
    tokens: int | None
    cost: float | None
    left_digest: str
    right_digest: str
    called_at: datetime
    served_by: str | None
    is_control: bool


class AuditsRow(TypedDict, total=False):
    """A state of a run (started, complete)."""

    audit_id: str
    status: str
    judge_id: str
    plan_id: str
    started_at: datetime
    ended_at: datetime | None
    code_version: str
    configuration: str
    seed: int
    input_digests: str
    commits: list[str]
    anchor_set: str | None
    anchor_version: int | None
    anchor_head: str | None
    canary_asking: int | None
    origin: str | None


class StrengthsRow(TypedDict, total=False):
    """An item's place among the candidates of its prompt, by all comparisons in both orders (Bradley-Terry)."""

    audit_id: str
    judge_id: str
    item_id: str
    source: str
    prompt_id: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    place: float | None
    n: int
    is_control: bool


class RunsRow(TypedDict, total=False):
    """A state of a run of a command or deployment (started, or how it ended)."""

    run_id: str
    outcome: str
    kind: str
    judge: str
    judge_id: str
    audit_id: str
    gate_id: str
    state: str | None
    exit_code: int | None
    reason: str
    started_at: datetime
    ended_at: datetime | None
    flow_run: str | None
    host: str | None
    code_version: str


class NoticesRow(TypedDict, total=False):
    """An event that a team's command or webhook was told of, or could not be told of."""

    run_id: str
    event: str
    told_to: str
    judge: str
    audit_id: str
    delivered: bool
    attempts: int
    reason: str
    sent_at: datetime


class CurvesRow(TypedDict, total=False):
    """A point of a curve."""

    audit_id: str
    subject: str
    baseline: str
    check: str
    measure: str
    source: str
    topic: str
    dimension: str
    axis: str
    kind: str
    rater: str
    rung: int
    strength: float
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_clusters: int | None
    is_control: bool


class MeasuresRow(TypedDict, total=False):
    """One statistic with its interval."""

    audit_id: str
    subject: str
    baseline: str
    check: str
    measure: str
    source: str
    topic: str
    dimension: str
    axis: str
    kind: str
    rater: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_clusters: int | None
    n_needed: int | None
    is_control: bool


class VerdictsRow(TypedDict, total=False):
    """A measure against its limit."""

    audit_id: str
    subject: str
    baseline: str
    check: str
    measure: str
    source: str
    topic: str
    dimension: str
    axis: str
    kind: str
    rater: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_needed: int | None
    limit_low: float | None
    limit_high: float | None
    verdict: str
    finding: str
    provisional: bool
    reason: str
    is_control: bool


class StandingsRow(TypedDict, total=False):
    """A judge in a use; one row for the position."""

    audit_id: str
    judge_id: str
    use: str
    standing: str
    reasons: list[str]
    missing: list[str]
    is_control: bool


class SignoffsRow(TypedDict, total=False):
    """A person's recorded yes to one use of a judge, on the strength of one audit."""

    signoff_id: str
    audit_id: str
    judge_id: str
    use: str
    signer: str
    account: str
    reason: str
    signed_at: datetime
    expires_at: datetime
    audit_digest: str
    public_key: str
    signature: str


class GatesRow(TypedDict, total=False):
    """One expectation of one asking of the release gate."""

    gate_id: str
    audit_id: str
    judge_id: str
    baseline: str
    use: str
    suite: str
    expectation: str
    severity: str
    owner: str
    observed: str
    expected: str
    state: str | None
    reason: str
    remedy: str
    asked_at: datetime


class ApprovalsRow(TypedDict, total=False):
    """An audit that a person approved for a use, against which later candidates are held."""

    approval_id: str
    audit_id: str
    judge_id: str
    origin: str | None
    use: str
    signer: str
    account: str
    reason: str
    first: bool
    despite: list[str]
    succeeds: str | None
    gate_id: str
    anchor_head: str | None
    audit_digest: str
    root: str | None
    code_version: str
    approved_at: datetime


class ImportsRow(TypedDict, total=False):
    """A file that was imported, and what is to be known of it."""

    import_id: str
    kind: str
    judge_id: str
    file: str
    file_digest: str
    mapping: str
    rows: int
    refused: int
    notes: list[str]
    code_version: str
    imported_at: datetime


class LabelsRow(TypedDict, total=False):
    """An annotator's rating of one dimension of an item."""

    import_id: str
    item_id: str
    source: str
    topic: str
    prompt_id: str
    cluster: str
    dimension: str
    annotator_id: str
    repeat: int
    value: float | None
    label_text: str
    level: str
    low: float | None
    high: float | None
    higher_is_better: bool
    labelled_at: datetime | None


class StudiesRow(TypedDict, total=False):
    """A planned study of ladders for people to read."""

    study_id: str
    name: str
    protocol: str
    protocol_version: str | None
    seed: int
    plan: str
    code_version: str
    created_at: datetime


class ReadingsRow(TypedDict, total=False):
    """An annotator's marked points on a ladder, in a state (the first mark, an addition or a correction)."""

    import_id: str
    row: int
    item_id: str
    axis: str
    annotator_id: str
    perceptible: float | None
    objectionable: float | None
    protocol: str
    recipe_version: int
    catch: bool
    repeat: int
    revision: int
    study_id: str | None
    protocol_version: str | None
    probe_ids: list[str]
    ladder_digest: str | None
    renderer: str
    shown_width: int
    shown_height: int
    pixel_ratio: float | None
    zoom: float | None
    distance_cm: float | None
    seconds: float | None
    reason: str
    read_at: datetime


class ChoicesRow(TypedDict, total=False):
    """An annotator's pick within a group."""

    import_id: str
    group_id: str
    annotator_id: str
    repeat: int
    item_id: str
    candidates: list[str]
    tied: list[str]
    chosen_at: datetime | None


class PairsRow(TypedDict, total=False):
    """An intact member beside its damaged one."""

    import_id: str
    pair_id: str
    kind: str
    intact: str
    damaged: str
    source: str
    topic: str
    cluster: str


class ReviewsRow(TypedDict, total=False):
    """One person's verdict on an item for one queue, in one dimension (overall for the whole) or on one axis."""

    import_id: str
    review_id: str
    queue: str
    dimension: str
    axis: str
    decision_id: str
    item_id: str
    partner: str
    annotator_id: str
    outcome: str
    reason: str
    judge: str
    pack_id: str
    inclusion: float | None
    stratum: str
    stratum_size: float | None
    reviewed_at: datetime | None


class DrawsRow(TypedDict, total=False):
    """An item that was drawn for a queue of a pack."""

    audit_id: str
    pack_id: str
    row: int
    queue: str
    item_id: str
    decision_id: str
    partner: str
    inclusion: float | None
    stratum: str
    stratum_size: float | None


class PacksRow(TypedDict, total=False):
    """What was drawn and handed to people."""

    audit_id: str
    pack_id: str
    kind: str
    judge_id: str
    rows: int
    seed: int
    code_version: str
    drawn_at: datetime


class DecisionsRow(TypedDict, total=False):
    """An accept or reject of production."""

    import_id: str
    decision_id: str
    item_id: str
    source: str
    topic: str
    judge: str
    value: float | None
    decision: str
    stratum: str
    decided_at: datetime | None


class AppealsRow(TypedDict, total=False):
    """An objection to a decision, and what became of it."""

    import_id: str
    appeal_id: str
    decision_id: str
    item_id: str
    channel: str
    outcome: str
    appealed_at: datetime | None
    resolved_at: datetime | None


class AnchorsRow(TypedDict, total=False):
    """An anchor as of a version of its set."""

    set_id: str
    anchor_version: int
    anchor_head: str | None
    anchor_id: str
    item_id: str
    known_as: str
    tier: str
    kind: str
    source: str
    topic: str
    cluster: str
    prompt: str
    uri: str
    file_digest: str
    pixel_digest: str | None


class AnchorLabelsRow(TypedDict, total=False):
    """An annotator's rating of one dimension of an anchor, as of a version of its set."""

    set_id: str
    anchor_version: int
    anchor_id: str
    dimension: str
    annotator_id: str
    value: float | None
    level: str
    low: float | None
    high: float | None
    higher_is_better: bool


class AnchorLedgerRow(TypedDict, total=False):
    """A change of an anchor set, never changed itself."""

    set_id: str
    anchor_version: int
    anchor_head: str | None
    previous_entry: str
    action: str
    anchor_id: str
    reason: str
    author: str
    annotators: list[str]
    changed_at: datetime
    anchor_before: str
    anchor_after: str


class RankChangesRow(TypedDict, total=False):
    """A pair of anchors that two judges put in opposite order."""

    judge_id: str
    baseline: str
    anchors_used: str
    dimension: str
    anchor_first: str
    anchor_second: str
    audit_id: str
    tier_first: str | None
    tier_second: str | None
    kind_first: str | None
    kind_second: str | None
    old_rank_first: float | None
    old_rank_second: float | None
    new_rank_first: float | None
    new_rank_second: float | None
    people_order: str
    people_basis: str | None
    direction: str
    across_tiers: bool
    firm: bool


class CanariesRow(TypedDict, total=False):
    """An answer to a canary, asked afresh before an audit of a judge whose weights are not pinned."""

    lineage_id: str
    asking: int
    probe_id: str
    repeat: int
    item_id: str
    source: str
    prompt: str
    uri: str
    pixel_digest: str | None
    runtime_id: str
    renderer: str
    state: str | None
    raw_reply: str | None
    attempts: int
    latency_ms: float | None
    tokens: int | None
    cost: float | None
    called_at: datetime
    served_by: str | None


class CanaryScoresRow(TypedDict, total=False):
    """One dimension of an answer to a canary."""

    lineage_id: str
    asking: int
    probe_id: str
    repeat: int
    dimension: str
    value: float | None
    state: str | None
    parser_version: str


class CanaryNightsRow(TypedDict, total=False):
    """What one asking of the canaries showed, and which judge it therefore is."""

    lineage_id: str
    asking: int
    audit_id: str
    judge_id: str
    epoch: int
    answer: str
    finding: str
    dimension: str
    n: int
    asked: int
    night_p: float | None
    drift_p: float | None
    shift: float | None
    silent_before: float | None
    silent_now: float | None
    services: list[str]
    reason: str
    decided_at: datetime | None


class PurgesRow(TypedDict, total=False):
    """An audit whose raw answers retention removed; what it came to stays."""

    audit_id: str
    judge_id: str
    plan_id: str
    answers: int
    retention: str
    removed_at: datetime


class RegistrationsRow(TypedDict, total=False):
    """A state of a model version that was submitted (requested, started, complete, failed, lost, told)."""

    registration_id: str
    round: int
    attempt: int
    status: str
    registry: str
    model: str
    model_version: str
    via: str | None
    flow_run: str | None
    host: str | None
    source_uri: str | None
    artifact_digest: str | None
    audit_id: str
    gate_id: str
    state: str | None
    reason: str
    recorded_at: datetime


class KeyParts(TypedDict, total=False):
    """What of a result's key may stand for all."""

    baseline: str
    source: str
    topic: str
    dimension: str
    axis: str
    kind: str
    rater: str


class ResultRow(TypedDict, total=False):
    """A row of curves, measures or verdicts."""

    audit_id: str
    subject: str
    baseline: str
    check: str
    measure: str
    source: str
    topic: str
    dimension: str
    axis: str
    kind: str
    rater: str
    rung: int
    strength: float
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_clusters: int | None
    is_control: bool
    n_needed: int | None
    limit_low: float | None
    limit_high: float | None
    verdict: str
    finding: str
    provisional: bool
    reason: str
