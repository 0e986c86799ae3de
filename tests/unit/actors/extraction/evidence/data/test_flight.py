"""Rows that Next.js streams are cut by bytes, whatever their texts hold."""

from __future__ import annotations

import json

from actors.extraction.evidence.data import flight


def push(text: str) -> str:
    return f"self.__next_f.push({json.dumps([1, text])})"


def test_reads_rows_that_are_split_over_pushes() -> None:
    scripts = [push('1:{"title":"On bl'), push('ue"}\n2:["a"]\n')]

    assert flight.rows(flight.pushed(scripts)) == [{"title": "On blue"}, ["a"]]


def test_finds_the_row_after_a_text_without_a_line_break() -> None:
    text = "Ein Satz – mit Strich.\nUnd noch einer."
    scripts = [push(f'3:T{len(text.encode()):x},{text}4:{{"after":true}}\n')]

    assert flight.rows(flight.pushed(scripts)) == [text, {"after": True}]


def test_passes_over_imports_hints_and_what_is_broken() -> None:
    rows = ['1:I["(app)/page.js",["1"],"default"]', ':HL["/a.css","style"]', "2:{broken", '3:{"kept":1}', '4:"text"']
    scripts = ["(self.__next_f=self.__next_f||[]).push([0])", push("\n".join(rows[:1] + rows[2:]) + "\n")]

    assert flight.rows(flight.pushed(scripts)) == [{"kept": 1}, "text"]


def test_gives_up_on_a_script_of_broken_pushes() -> None:
    assert flight.pushed(['self.__next_f.push([1,"' * 20_000]) == []


def test_bears_a_length_beyond_the_end() -> None:
    assert flight.rows([f"1:T{'f' * 8},abc"]) == ["abc"]
