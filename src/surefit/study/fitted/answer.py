"""The answer in three sentences: which model, how good, what to worry about."""

from __future__ import annotations

from collections.abc import Sequence

from surefit.metrics.usual import usual_metric
from surefit.plots.words import listed, metric_words
from surefit.study.record import EntryRecord, FindingRecord, ModelRecord, ScoreRecord

ORDER = {"problem": 0, "warning": 1, "note": 2}
NAMED = 4  # models that a sentence lists


def answer(
    target: str,
    metric: str,
    level: float,
    leaderboard: Sequence[EntryRecord],
    chosen: ModelRecord,
    baseline: str,
    score: ScoreRecord,
    audit: Sequence[FindingRecord],
) -> tuple[str, str, str]:
    """Say it."""
    by_name = {entry.name: entry for entry in leaderboard}
    return (
        which(target, leaderboard, by_name[chosen.name], baseline),
        how_good(metric, level, by_name[chosen.name], by_name[baseline], score),
        worries(leaderboard, chosen, audit),
    )


def which(target: str, leaderboard: Sequence[EntryRecord], chosen: EntryRecord, baseline: str) -> str:
    """Name the model, and why it is this one."""
    scored = [entry for entry in leaderboard if entry.failed is None]
    equals = [entry for entry in scored if entry.as_good_as_best]
    if chosen.name == baseline:
        others = len(scored) - 1
        if others == 0:
            return (
                f"No other model than the baseline, the {_small(chosen.title)}, could be scored for {target}."
            )
        return (
            f"No skill was found: {'the other model does' if others == 1 else f'{others} models do'} not "
            f"predict {target} better than the baseline, the {_small(chosen.title)}, beyond what chance "
            "explains."
        )
    out = len(leaderboard) - len(scored)
    among = f"{len(scored)} models" + (f" ({out} more could not be compared)" if out else "")
    if len(equals) == 1:
        return f"{chosen.title} predicts {target} best of {among}."
    names = listed([entry.title for entry in equals], NAMED)
    return (
        f"{chosen.title} predicts {target}: of {among}, {len(equals)} cannot be told apart at the top "
        f"({names}), and it is the simplest of them."
    )


def how_good(
    metric: str, level: float, chosen: EntryRecord, baseline: EntryRecord, score: ScoreRecord
) -> str:
    """Tell the score for new rows, its interval, and what the baseline has."""
    ends = f"{100 * level:g} % interval {number(score.low)} to {number(score.high)}"
    allowing = "" if score.models < 2 else f", allowing for the choice among {score.models} models"
    told = f"For new rows expect {_article(metric_words(metric))} of {number(score.value)} ({ends}{allowing})"
    if chosen.name == baseline.name:
        return f"{told}."
    assert baseline.score is not None
    more = [
        f" and {_article(metric_words(name))} of {number(chosen.others[name][0])}"
        for name in (usual_metric("regression"), usual_metric("classification"))
        if name in chosen.others
    ]
    return f"{told}{''.join(more)}; the baseline, the {_small(baseline.title)}, has {number(baseline.score)}."


def worries(leaderboard: Sequence[EntryRecord], chosen: ModelRecord, audit: Sequence[FindingRecord]) -> str:
    """Name what is worst: a fit that proves nothing, then findings about the data and the fit."""
    certificate = chosen.certificate
    if certificate is not None and not certificate.holds:
        return f"Worry about the fit, which did not converge: {certificate.statement}"
    findings = sorted((*audit, *chosen.diagnosis), key=lambda entry: ORDER.get(entry.severity, 3))
    serious = [entry for entry in findings if entry.severity != "note"]
    left_out = [entry.title for entry in leaderboard if entry.failed is not None]
    if not serious:
        end = f", but {listed(left_out, NAMED)} could not be compared" if left_out else ""
        return f"Nothing was found to worry about{end}."
    more = len(serious) - 1
    rest = "" if more == 0 else f" There {'is' if more == 1 else 'are'} {more} more in the audit."
    return f"Worry about this: {serious[0].message.rstrip('.')}. {serious[0].remedy}{rest}".strip()


def number(value: float) -> str:
    """A number for a sentence.

    >>> number(0.51234), number(12345.6), number(1.0)
    ('0.5123', '12,350', '1')
    """
    if abs(value) >= 10_000:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def _small(title: str) -> str:
    return title[:1].lower() + title[1:]


def _article(words: str) -> str:
    spelt = words[0] in "AEFHILMNORSX" and not words[1:2].isalpha()  # a letter that is read out, as R²
    return f"an {words}" if words[0] in "aeio" or spelt else f"a {words}"
