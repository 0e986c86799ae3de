"""`python -m scripts.calibrate_citations FILE.jsonl…`: fit how sure a quote that is not verbatim is.

Each line of a file has a passage (`context`). Its sentences are worn as models wear them (a typo, a word left out, a
cut end, other marks) and falsified as models falsify them (another figure, a negation, another name, words in another
order, halves of two sentences, a sentence of another passage). The curve is fitted on half of the passages; the other
half says how good it is.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from actors.answerer.citable_source import citable, fold_quote
from actors.answerer.citations import MIN_CONFIDENCE, agree, probability, resemblance
from actors.answerer.source import AnswerSource

MIN_SENTENCE_CHARS: Final = 30
_ROUNDS, _RATE = 4_000, 0.5
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}")

Change = Callable[[str, str, random.Random], str]
"""Changes a sentence; the second is one of another passage."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A changed sentence: how alike it is to the page, whether it says the same, and whether the guards let it pass."""

    kind: str
    alike: float
    same: bool
    agreed: bool


@dataclass(frozen=True, kw_only=True)
class Quality:
    """How good the confidences are: the share of worn quotes kept and of false ones, and the Brier score."""

    kept: float
    false_kept: float
    brier: float


def cases(passages: Sequence[str], chance: random.Random) -> Iterator[Case]:
    """Yield every change of every sentence of some passages."""
    sources = [citable(AnswerSource(doc_id="p", url="", title="", markdown=passage)) for passage in passages]
    for index, source in enumerate(sources):
        foreign = sources[(index + 1) % len(sources)].text.sentences
        for sentence in source.text.sentences:
            if len(sentence.text) < MIN_SENTENCE_CHARS:
                continue
            for kind, change in {**WORN, **FALSE}.items():
                changed = change(sentence.text, chance.choice(foreign).text, chance)
                if not changed or fold_quote(changed) in source.folded:
                    continue
                alike, start, end = resemblance(fold_quote(changed), source)
                agreed = agree(changed, source, start, end)
                yield Case(kind=kind, alike=alike, same=kind in WORN, agreed=agreed)


def quality(found: Iterable[Case], curve: Callable[[float], float] = probability) -> Quality:
    """Measure a curve together with the guards."""
    judged = [(curve(one.alike) if one.agreed else 0.0, one.same) for one in found]
    same = [sure for sure, is_same in judged if is_same]
    false = [sure for sure, is_same in judged if not is_same]
    return Quality(
        kept=sum(sure >= MIN_CONFIDENCE for sure in same) / len(same),
        false_kept=sum(sure >= MIN_CONFIDENCE for sure in false) / len(false),
        brier=sum((sure - is_same) ** 2 for sure, is_same in judged) / len(judged),
    )


def fit(found: Iterable[Case]) -> tuple[float, float]:
    """Return slope and offset of the logistic curve, by gradient descent on what the guards let pass."""
    points = [((one.alike - 80.0) / 10.0, float(one.same)) for one in found if one.agreed]
    slope = offset = 0.0
    for _ in range(_ROUNDS):
        errors = [(1.0 / (1.0 + math.exp(-(slope * x + offset))) - same, x) for x, same in points]
        slope -= _RATE * sum(error * x for error, x in errors) / len(points)
        offset -= _RATE * sum(error for error, _ in errors) / len(points)
    return slope / 10.0, offset - 8.0 * slope


def _typo(text: str, _: str, chance: random.Random) -> str:
    words = [word for word in _WORD.finditer(text) if len(word[0]) > 4 and word[0].isalpha()]  # noqa: PLR2004 - a long word
    if not words:
        return ""
    word = chance.choice(words)
    place = word.start() + chance.randrange(len(word[0]) - 1)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def _left_out(text: str, _: str, chance: random.Random) -> str:
    words = text.split()
    small = [index for index, word in enumerate(words) if len(word) < 5 and word.isalpha()]  # noqa: PLR2004 - a small word
    if not small:
        return ""
    del words[chance.choice(small)]
    return " ".join(words)


def _cut(text: str, _: str, chance: random.Random) -> str:
    words = text.split()
    end = chance.randrange(max(2 * len(words) // 3, 1), len(words) + 1)
    return _typo(" ".join(words[:end]), "", chance)


def _marks(text: str, _: str, __: random.Random) -> str:
    return re.sub(r"[,;:()]", "", text).rstrip(".") + "!"


def _worn_twice(text: str, other: str, chance: random.Random) -> str:
    return _left_out(_typo(_marks(text, other, chance), other, chance), other, chance)


def _figure(text: str, _: str, chance: random.Random) -> str:
    figures = list(re.finditer(r"\d", text))
    if not figures:
        return ""
    place = chance.choice(figures).start()
    return f"{text[:place]}{(int(text[place]) + chance.randrange(1, 9)) % 10}{text[place + 1 :]}"


def _negated(text: str, _: str, __: random.Random) -> str:
    if re.search(r"\b(?:not|no|never)\b", text):
        return re.sub(r"\b(?:not|no|never) ", "", text, count=1)
    return re.sub(r"\b(is|was|were|are|has|had|can|will)\b", r"\1 not", text, count=1) if " " in text else ""


def _renamed(text: str, other: str, chance: random.Random) -> str:
    names, others = _NAME.findall(text), _NAME.findall(other)
    others = [name for name in others if name not in names]
    return text.replace(chance.choice(names), chance.choice(others)) if names and others else ""


def _swapped(text: str, _: str, chance: random.Random) -> str:
    words = text.split()
    chance.shuffle(words)
    return " ".join(words)


def _halves(text: str, other: str, _: random.Random) -> str:
    first, second = text.split(), other.split()
    return " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])


def _foreign(_: str, other: str, __: random.Random) -> str:
    return other


WORN: dict[str, Change] = {
    "typo": _typo,
    "left out": _left_out,
    "cut": _cut,
    "marks": _marks,
    "worn twice": _worn_twice,
}
FALSE: dict[str, Change] = {
    "figure": _figure,
    "negated": _negated,
    "renamed": _renamed,
    "swapped": _swapped,
    "halves": _halves,
    "foreign": _foreign,
}


def main(files: Sequence[str]) -> int:
    """Fit on half of the passages and print the curve, and how good it is on the other half."""
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    lines = [line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    passages = list(dict.fromkeys(str(msgspec.json.decode(line)["context"]) for line in lines))
    chance = random.Random(1)  # noqa: S311 - the same changes each time
    chance.shuffle(passages)
    half = len(passages) // 2
    slope, offset = fit(cases(passages[:half], chance))
    held_out = list(cases(passages[half:], chance))
    print(f"fitted: _SLOPE, _OFFSET = {slope:.3f}, {offset:.2f}")
    print("held out, in the code:", quality(held_out))
    print("held out, fitted:     ", quality(held_out, lambda alike: 1 / (1 + math.exp(-(slope * alike + offset)))))
    for kind in {**WORN, **FALSE}:
        of_kind = [one for one in held_out if one.kind == kind]
        kept = sum(one.agreed and probability(one.alike) >= MIN_CONFIDENCE for one in of_kind)
        print(f"  {kind}: {kept} of {len(of_kind)} kept")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
