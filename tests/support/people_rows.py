"""Made-up rows of an audit in which people have labelled: two dimensions, sources a and b."""

from __future__ import annotations

TWO = "look / match"


def figure(value, half=0.04, n=80):
    return {"value": value, "ci_low": value - half, "ci_high": value + half, "n": n, "n_clusters": n}


def judge_row(check, measure, value, **parts):
    return {"subject": "j", "check": check, "measure": measure, **figure(value), **parts}


def people_row(measure, value, **parts):
    return {"subject": "people", "check": "agreement", "measure": measure, **figure(value), **parts}


def verdict(check, measure, word, reason, **parts):
    told = {"subject": "j", "check": check, "measure": measure, "verdict": word, "reason": reason}
    return {"finding": "", "provisional": False, "dimension": "match", **told, **parts}


def beside(dimension, people, judge, sources=("*", "a", "b")):
    told = {"dimension": dimension, "baseline": "people"}
    found = []
    for source in sources:
        for measure, value in (
            ("rater_agreement", people),
            ("judge_agreement", judge),
            ("judge_beside_people", judge - people),
        ):
            found.append(judge_row("beside_people", measure, value, source=source, **told))
    for measure, value in (("rater_agreement", people + 0.05), ("judge_agreement", judge + 0.09)):
        found.append(judge_row("beside_people", measure, value, kind="pooled", **told))
    return found


def agreement(dimension, alpha):
    found = []
    for source in ("*", "(within sources)", "a", "b"):
        place = {"dimension": dimension, "source": source}
        found += [
            people_row("alpha", alpha, kind="ordinal", **place),
            people_row("percent_agreement", 0.7, **place),
            people_row("agreement_by_chance", 0.5, **place),
            people_row("ceiling", alpha + 0.1, kind="spearman", **place),
        ]
    place = {"dimension": dimension, "source": "(within sources)", "kind": "spearman"}
    return [*found, people_row("ceiling_one_rater", 0.8, **place)]


def choosing(dimension):
    told = {"check": "within_prompt", "dimension": dimension}
    return [
        judge_row(measure=measure, value=value, **told)
        for measure, value in (
            ("top1_recovery", 0.55),
            ("top1_chance", 0.25),
            ("rater_top1_recovery", 0.7),
            ("tie_rate", 0.1),
        )
    ]


def people_results():
    """Rows in which the judge is worse than people at `match` and as good at `look`."""
    excess = [
        people_row("disagreement_excess", 0.2, dimension="look", source="a"),
        people_row("disagreement_excess", 0.02, dimension="look", source="b"),
        people_row("disagreement_excess", -0.3, dimension="look", topic="cats"),
        people_row("disagreement_excess", 0.1, dimension="look", source="(within sources)"),
    ]
    apart = [
        judge_row("subscores", "subscore_correlation", 0.9, source=source, kind=TWO) for source in ("*", "a")
    ]
    apart.append(judge_row("subscores", "effective_dimensions", 1.1))
    theirs = [
        {**judge_row("subscores", measure, value), "subject": "people", "baseline": "j", **kind}
        for measure, value, kind in (
            ("subscore_correlation", 0.3, {"kind": TWO}),
            ("effective_dimensions", 1.8, {}),
        )
    ]
    measures = [
        *beside("match", 0.72, 0.58),
        *beside("look", 0.5, 0.5),
        *agreement("match", 0.62),
        *agreement("look", 0.4),
        *choosing("match"),
        *excess,
        *apart,
        *theirs,
    ]
    verdicts = [
        verdict(
            "beside_people",
            "judge_beside_people",
            "fail",
            "It agrees less (0.58 beside 0.72). Left out: c.",
            finding="worse_than_people",
        ),
        verdict("beside_people", "judge_beside_people", "pass", "It agrees (so). ", dimension="look"),
        verdict("missingness", "missing_difference", "fail", "Silent on some.", finding="silent_on_some"),
        verdict(
            "agreement", "unnamed_share", "missing", "Ids are missing.", finding="unnamed", subject="people"
        ),
        verdict(
            "agreement",
            "unnamed_share",
            "missing",
            "Ids are missing.",
            finding="unnamed",
            subject="people",
            dimension="look",
        ),
        verdict(
            "agreement",
            "near_copies",
            "inconclusive",
            "ann / bob agree far.",
            finding="near_copies",
            subject="people",
            rater="ann / bob",
        ),
        verdict("agreement", "rated_share", "inconclusive", "It is open.", subject="people"),
        verdict("agreement", "distinct_values", "pass", "Nobody is constant.", subject="people"),
    ]
    return {"measures": measures, "verdicts": verdicts}
