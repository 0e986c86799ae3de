"""What a goal asks for is read from its words alone, in several languages, and never guessed."""

from __future__ import annotations

import pytest

from actors.answerer.agent.goals import permitted, read_goal
from protocol.agent import TransformType


@pytest.mark.parametrize(
    ("goal", "expression"),
    [
        ("12 * (3 + 4)", "12 * (3 + 4)"),
        ("What is 12 × (3 − 4)?", "12 * (3 - 4)"),
        ("Berechne 1,5 + 2,25", "1.5 + 2.25"),
        ("Calculate 1,000 + 2", "1,000 + 2"),
        ("Combien font 7 : 2 ?", "7 / 2"),
        ("How many stations are there in 1966?", ""),
        ("What is 2026-11-23?", ""),
        ("What is 12:30?", ""),
        ("5 things to know about looms", ""),
        ("What is 10 - 3 in words, and why?", ""),
    ],
)
def test_an_expression_is_taken_where_the_goal_is_one(goal: str, expression: str) -> None:
    assert read_goal(goal).expression == expression


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ("Make a timeline of these sources", TransformType.TIMELINE),
        ("Erstelle eine Zeitleiste der Gezeitenkraftwerke", TransformType.TIMELINE),
        ("Compare the two tents", TransformType.COMPARISON),
        ("Vergleiche die beiden Zelte", TransformType.COMPARISON),
        ("Fais un quiz sur ce sujet", TransformType.QUIZ),
        ("Crea schede di studio", TransformType.FLASHCARDS),
        ("When was the timeline of the project published?", None),
        ("What does the report say?", None),
    ],
)
def test_a_kind_of_text_is_made_where_the_goal_says_so(goal: str, kind: TransformType | None) -> None:
    assert read_goal(goal).transform is kind


@pytest.mark.parametrize(
    ("goal", "wanted", "unwanted"),
    [
        ("When was it opened?", "search", "integration.invoke"),
        ("Summarize this page", "source.capture", "artifact.share"),
        ("Save this as a note", "artifact.save", "artifact.share"),
        ("Speichere das", "artifact.save", "integration.invoke"),
        ("Exporte le résumé en pdf", "artifact.share", "integration.invoke"),
        ("Envíalo al equipo", "integration.invoke", "artifact.save"),
        ("Klicke auf Kaufen", "browser.click", "integration.invoke"),
        ("Read https://send.example/save/click", "search", "integration.invoke"),
    ],
)
def test_a_task_wants_what_its_words_name_and_no_more(goal: str, wanted: str, unwanted: str) -> None:
    tools = permitted(goal)

    assert (wanted in tools, unwanted in tools) == (True, False)


def test_a_text_that_is_to_be_handed_out_and_pages_are_named() -> None:
    assert read_goal("Share the text art_12 as a pdf").share == ("art_12", "pdf")
    assert read_goal("Read https://a.example/x, and (https://b.example/y).").urls == (
        "https://a.example/x",
        "https://b.example/y",
    )
