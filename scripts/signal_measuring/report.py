"""Writes down how well a rule does, and which pages it believes wrongly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from actors.fetchers.lightweight.signals import MARKS, RULE, Rule
from scripts.signal_measuring.both import EQUAL, WRONG, Shown
from scripts.signal_measuring.corpus import Kind
from scripts.signal_measuring.learning import FOLDS, MISS_COSTS, Marked, Verdict, judge

_HEAD = """| pages | number | equal | wrong | caught | false alarms | precision | recall | of equal ones escalated |
|---|---|---|---|---|---|---|---|---|"""


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


def document(pages: Sequence[Marked], learned: Sequence[Verdict], rule: Rule) -> str:
    """Write everything as Markdown: how the rule in use does, how learned ones do, and what each mark tells."""
    in_use = judge(pages)
    return "\n".join(
        [
            _INTRODUCTION,
            *_table("The rule in use", in_use),
            *_table("By cross-validation", learned),
            *_names_of("Believed though wrong, by the rule in use", in_use, lambda page: page.wrong, raised=False),
            *_names_of("Believed though wrong, by cross-validation", learned, lambda page: page.wrong, raised=False),
            *_names_of("More than Chromium shows", in_use, lambda page: page.more, raised=False),
            *_names_of("Escalated though equal, by the rule in use", in_use, lambda page: page.equal, raised=True),
            *_marks(pages),
            *_rules(rule),
            *_differing(in_use),
        ]
    )


_INTRODUCTION = f"""# What calls for a browser

Written by `scripts/measure-signals`, which shows pages to the tier lightweight and to Chromium and compares the words.

A page is equal at a similarity of {EQUAL} and wrong below {WRONG}: twice the words that both show in the same order,
by the words of both. Apps are pages on frameworks and libraries, among them short ones that are right as they are.
Further pages hang on one feature of a browser each: where it works, it opens an article, or adds two sentences to one.
Nothing in the tier tells that a sentence is missing from a page that looks whole, but for what its scripts asked for.

By cross-validation, thresholds and marks are chosen on the pages of other families only, in {FOLDS} parts; a page
that is wrong and believed costs as much as {MISS_COSTS} false alarms. Pages between equal and wrong count for neither,
nor do those that show all that Chromium does, and more: what style sheets hide, or what waits further down.
"""


def _table(title: str, verdicts: Sequence[Verdict]) -> list[str]:
    kinds = _by_kind(verdicts)
    rows = {
        **kinds,
        "apps and openings": [*kinds["apps"], *kinds["a feature opens"]],
        "all": list(verdicts),
    }
    return [f"## {title}", "", _HEAD, *(_row(name, score(some)) for name, some in rows.items()), ""]


def _by_kind(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    names = {Kind.APP: "apps", Kind.GATE: "a feature opens", Kind.ADDITION: "a feature adds"}
    return {name: [each for each in verdicts if each.page.sample.kind is kind] for kind, name in names.items()}


def _row(name: str, of: Score) -> str:
    counts = f"{of.pages} | {of.equal} | {of.wrong} | {of.caught} | {of.alarms}"
    return f"| {name} | {counts} | {of.precision:.2f} | {of.recall:.2f} | {of.escalated:.1%} |"


def _names_of(title: str, verdicts: Sequence[Verdict], are: Callable[[Shown], bool], *, raised: bool) -> list[str]:
    lines = [f"## {title}", ""]
    for kind, some in _by_kind(verdicts).items():
        names = ", ".join(_name(each) for each in some if are(each.page) and bool(each.raised) is raised)
        lines.append(f"- {kind}: {names or 'none'}")
    return [*lines, ""]


def _name(verdict: Verdict) -> str:
    page = verdict.page
    why = f", {' '.join(verdict.raised)}" if verdict.raised else ""
    return f"{page.sample.name} ({page.similarity:.2f}{why})"


def _marks(pages: Sequence[Marked]) -> list[str]:
    lines = [
        "## Marks",
        "",
        "| mark | counts | wrong | equal | wrong, additions | equal, additions |",
        "|---|---|---|---|---|---|",
    ]
    for name in MARKS:
        bearing = [each.page for each in pages if name in each.borne]
        main = [page for page in bearing if page.sample.kind is not Kind.ADDITION]
        more = [page for page in bearing if page.sample.kind is Kind.ADDITION]
        counts = (sum(each) for some in (main, more) for each in ([p.wrong for p in some], [p.equal for p in some]))
        use = "alone" if name in RULE.alone else "beside few words" if name in RULE.beside else "no"
        lines.append(f"| {name} | {use} | {' | '.join(str(count) for count in counts)} |")
    return [*lines, ""]


def _rules(rule: Rule) -> list[str]:
    return [
        "## What all pages together teach",
        "",
        f"Alone: {', '.join(sorted(rule.alone))}; beside fewer than {rule.few_words} words:",
        f"{', '.join(sorted(rule.beside)) or 'nothing'}; fewer than {rule.thin_words} words count alone.",
        "",
    ]


def _differing(verdicts: Sequence[Verdict]) -> list[str]:
    found = [each for each in verdicts if each.page.sample.kind is Kind.APP and not each.page.equal]
    found.sort(key=lambda each: each.page.similarity)
    head = [
        "## Apps that differ",
        "",
        "| app | similarity | kept | words of Chromium | signals |",
        "|---|---|---|---|---|",
    ]
    return [*head, *(_differs(each) for each in found), ""]


def _differs(verdict: Verdict) -> str:
    page = verdict.page
    return (
        f"| {page.sample.name} | {page.similarity:.2f} | {page.kept:.2f} | {page.words} | {' '.join(verdict.raised)} |"
    )
