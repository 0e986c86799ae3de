"""Questions of our own to passages of our own: which sentence is quoted, what it comes to, and what is not claimed."""

from __future__ import annotations

import pytest

from actors.answerer.local import answer
from actors.answerer.sentences import read_sentences
from actors.answerer.source import LocalAnswer, Quote
from tests.unit.actors.answerer.local.passages import (
    MELNITSA,
    MILL,
    MOLINO,
    MOULIN,
    MUEHLE,
    SHUICHE,
    SUISHA,
    THAI,
    source,
)

BUILT = "It was built in 1781 by Agnes Tolliver, a baker from Lund."


@pytest.mark.parametrize(
    ("passage", "question", "quote", "value"),
    [
        (MILL, "When was the mill built?", BUILT, "1781"),
        (MILL, "Who built the mill?", BUILT, "Agnes Tolliver"),
        (MILL, "How wide is the wheel?", "Its wheel is 6.4 metres wide and turns eleven times a minute.", "6.4 metres"),
        (MILL, "What happened in March 1866?", "In March 1866 a flood carried the wheel away.", ""),
        (MILL, "When is it open?", "Open from May to September, 10:00 to 17:00.", "May to September"),
        (MILL, "How many members does the trust have?", "Today it belongs to a trust of 240 members.", "240"),
        (MILL, "On which river is the mill?", "The mill at Harrow Ford is a watermill on the river Senn.", ""),
        (MUEHLE, "Wann wurde die Mühle erbaut?", "Die Mühle am Fluss wurde 1781 von Agnes Tolliver erbaut.", "1781"),
        (MUEHLE, "Wie breit ist das Rad?", "Das Rad ist 6,4 Meter breit.", "6,4 Meter"),
        (MUEHLE, "Warum zahlen Kinder nichts?", "Kinder zahlen nichts, weil der Verein sie einlädt.", ""),
        (MOULIN, "Combien coûte l'entrée ?", "L'entrée coûte 4 euros.", "4 euros"),
        (
            MOULIN,
            "Qui a construit le moulin ?",
            "Il a été construit en 1781 par la boulangère Agnès Tollivier.",
            "Agnès Tollivier",
        ),
        (MOLINO, "¿Quién construyó el molino?", "Lo construyó Inés Toledo en 1781.", "Inés Toledo"),
        (MOLINO, "¿Por qué cierra en invierno?", "El molino cierra en invierno porque el río se hiela.", ""),
        (MELNITSA, "Когда построена мельница?", "Её построила Агния Толли в 1781 году.", "1781"),
        (MELNITSA, "Сколько стоит вход?", "Вход стоит 300 рублей.", "300 рублей"),
        (SHUICHE, "水车是谁建造的？", "它由李安于1781年建造。", ""),
        (SHUICHE, "门票多少钱？", "门票价格是30元。", "30元"),
        (SHUICHE, "为什么重建？", "村民在两年内重建了它，因为附近没有别的磨坊。", ""),
        (SUISHA, "水車はいつ建てられましたか", "1781年に佐藤花子が建てた。", "1781年"),
        (SUISHA, "入場料はいくらですか", "入場料は500円である。", "500円"),
        (THAI, "ค่าเข้าชมเท่าไหร่", "ค่าเข้าชมคนละ 50 บาท", "50 บาท"),
    ],
)
def test_the_sentence_that_answers_is_quoted_first(passage: str, question: str, quote: str, value: str) -> None:
    found = answer(question, [source(passage)])

    assert (found.quotes[0].quote, found.value, found.supported, found.collect) == (quote, value, True, ())
    assert all(each.quote in read_sentences(passage).text for each in found.quotes)


def test_rows_answer_by_the_heading_above_them() -> None:
    found = answer("How much is a ticket for children?", [source(MILL)])

    assert (found.quotes[0].quote, found.quotes[0].section) == ("Children 2 euros", "Visits")


def test_what_the_source_does_not_say_is_not_claimed() -> None:
    found = answer("How tall is the bridge at Harrow Ford?", [source(MILL)])

    assert (found.supported, found.value) == (False, "")
    assert found.collect == (
        'read https://ford.example/bridge ("the bridge at Harrow Ford")',
        'search for "tall bridge Harrow Ford"',
    )


@pytest.mark.parametrize(("passage", "question"), [(MILL, "Who rules Peru?"), (SHUICHE, "谁画了国王？"), ("", "Why?")])
def test_of_another_matter_nothing_is_quoted(passage: str, question: str) -> None:
    found = answer(question, [source(passage)])

    assert found.quotes == ()
    assert not found.supported


def test_a_link_leads_on_but_not_out_of_the_web() -> None:
    links = "[Opening hours](javascript:hours) [Opening hours](/hours#now) [Opening hours](mailto:a@b.example)"
    links = f"[Opening hours](http://[hours) {links}"
    passage = f"The granary is closed in winter. It holds grain. It has two doors.\n\n{links}"

    found = answer("What are the opening hours of the old granary?", [source(passage)])

    assert (found.quotes[0].quote, found.supported) == ("The granary is closed in winter.", False)
    assert found.collect[:-1] == ('read https://mill.example/hours ("Opening hours")',)


def test_several_sources_are_weighed_together_and_nothing_is_quoted_twice() -> None:
    sources = [
        source("The granary was built in 1790 by Ole Brand.", doc_id="doc_1"),
        source("The mill was built in 1781 by Agnes Tolliver.", doc_id="doc_2"),
        source("The mill was built in 1781 by Agnes Tolliver.", doc_id="doc_3"),
    ]

    found = answer("When was the mill built?", sources)

    assert [(each.doc_id, each.quote) for each in found.quotes] == [
        ("doc_2", "The mill was built in 1781 by Agnes Tolliver."),
        ("doc_1", "The granary was built in 1790 by Ole Brand."),
    ]


def test_a_question_about_the_whole_page_is_answered_by_its_summary() -> None:
    passage = "The mill was built in 1781."

    assert answer("What is this page about?", [source(passage)]) == LocalAnswer(
        quotes=(Quote(doc_id="doc_1", quote=passage, score=1.0),), supported=True, confidence=1.0
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", ["flood " * 20_000, "洪水。" * 20_000, "# flood\n\n" * 5_000, "[flood](" * 20_000])
def test_text_without_end_is_answered_all_the_same(text: str) -> None:
    found = answer("When did the flood come? 洪水", [source(text)])

    assert 0 < len(found.quotes[0].quote) <= 600
