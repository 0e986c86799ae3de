"""Writes down how well a rule does, and which pages it believes wrongly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from actors.fetchers.lightweight.signals import MARKS, Rule
from scripts.signal_measuring.corpus import Kind
from scripts.signal_measuring.learning import Marked, Verdict

_COLUMNS = (("pages", 6), ("equal", 6), ("wrong", 6), ("caught", 7), ("alarms", 7), ("precision", 10), ("recall", 7))
_HEAD = " " * 22 + "".join(f"{name:>{width}}" for name, width in _COLUMNS) + " escalated"


@dataclass(frozen=True)
class Score:
    """How a rule does on some pages: `caught` of the wrong ones, `alarms` for equal ones, `near` for those between."""

    pages: int
    equal: int
    wrong: int
    caught: int
    alarms: int
    near: int

    @property
    def precision(self) -> float:
        """The share of pages sent to a browser that were wrong; those between right and wrong count for neither."""
        return self.caught / max(self.caught + self.alarms, 1)

    @property
    def recall(self) -> float:
        """The share of wrong pages that were sent to a browser."""
        return self.caught / max(self.wrong, 1)

    @property
    def escalated(self) -> float:
        """The share of equal pages that were sent to a browser for nothing."""
        return self.alarms / max(self.equal, 1)


def score(verdicts: Sequence[Verdict]) -> Score:
    """Count."""
    return Score(
        pages=len(verdicts),
        equal=sum(verdict.page.equal for verdict in verdicts),
        wrong=sum(verdict.page.wrong for verdict in verdicts),
        caught=sum(verdict.page.wrong and bool(verdict.raised) for verdict in verdicts),
        alarms=sum(verdict.page.equal and bool(verdict.raised) for verdict in verdicts),
        near=sum(not verdict.page.equal and not verdict.page.wrong for verdict in verdicts),
    )


def table(title: str, verdicts: Sequence[Verdict]) -> str:
    """Write the scores by kind of page, and the names of those that are wrong and believed."""
    kinds = {
        "apps": [verdict for verdict in verdicts if verdict.page.sample.kind is Kind.APP],
        "a feature opens": [verdict for verdict in verdicts if verdict.page.sample.kind is Kind.GATE],
        "apps and openings": [verdict for verdict in verdicts if verdict.page.sample.kind is not Kind.ADDITION],
        "a feature adds": [verdict for verdict in verdicts if verdict.page.sample.kind is Kind.ADDITION],
        "all": list(verdicts),
    }
    lines = [title, _HEAD, *(_row(name, score(some)) for name, some in kinds.items())]
    for name in ("apps", "a feature opens", "a feature adds"):
        lines.append(f"  silent, {name}: {_names(v for v in kinds[name] if v.page.wrong and not v.raised)}")
        lines.append(f"  false alarms, {name}: {_names(v for v in kinds[name] if v.page.equal and v.raised)}")
    return "\n".join([*lines, ""])


def _row(name: str, of: Score) -> str:
    counts = f"{of.pages:6}{of.equal:6}{of.wrong:6}{of.caught:7}{of.alarms:7}"
    return f"{name:22}{counts}{of.precision:10.2f}{of.recall:7.2f}{of.escalated:10.1%}"


def _names(verdicts: Iterable[Verdict]) -> str:
    return ", ".join(_name(verdict) for verdict in verdicts) or "none"


def _name(verdict: Verdict) -> str:
    page = verdict.page
    more = ", only more" if page.only_more else ""
    why = f": {' '.join(verdict.raised)}" if verdict.raised else ""
    return f"{page.sample.name} ({page.similarity:.2f}{more}{why})"


def marks_table(pages: Sequence[Marked]) -> str:
    """Write how many wrong and how many equal pages bear each mark, of apps and openings, and of additions."""
    lines = [f"{'mark':20}{'wrong':>6}{'equal':>6}   additions:{'wrong':>6}{'equal':>6}"]
    for name in MARKS:
        bearing = [each.page for each in pages if name in each.borne]
        main = [page for page in bearing if page.sample.kind is not Kind.ADDITION]
        more = [page for page in bearing if page.sample.kind is Kind.ADDITION]
        counts = (
            [sum(page.wrong for page in some) for some in (main, more)],
            [sum(page.equal for page in some) for some in (main, more)],
        )
        lines.append(f"{name:20}{counts[0][0]:6}{counts[1][0]:6}{'':13}{counts[0][1]:6}{counts[1][1]:6}")
    return "\n".join([*lines, ""])


def differing(verdicts: Sequence[Verdict]) -> str:
    """Write all apps that are not equal, the worst first."""
    found = [v for v in verdicts if v.page.sample.kind is Kind.APP and not v.page.equal]
    found.sort(key=lambda verdict: verdict.page.similarity)
    lines = (
        f"{v.page.similarity:5.2f} {v.page.kept:5.2f} {v.page.words:5} {v.page.sample.name:26}{' '.join(v.raised)}"
        for v in found
    )
    return "\n".join(["Apps that differ: similarity, kept, words of Chromium, signals", *lines, ""])


def rule_text(rule: Rule) -> str:
    """Write a rule."""
    few = f"alone below {rule.thin_words} words, beside a mark below {rule.few_words}"
    return f"alone: {', '.join(sorted(rule.alone))}\nbeside: {', '.join(sorted(rule.beside))}\n{few}"
