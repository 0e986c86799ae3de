"""`weft extract`: files become Markdown and JSON, one or many, without a system and without a network."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from actors.cli.main import run

PAGES = Path(__file__).parents[3] / "site" / "pages"
ARTICLE = PAGES / "article.html"


def test_a_file_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["extract", str(ARTICLE), "--url", "https://notes.example/loom/"]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("Before a single row of cloth")
    assert "[shuttle](https://notes.example/notes/shuttle)" in printed


def test_json_has_every_field_with_its_confidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["extract", str(ARTICLE), "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert (found["title"], found["lang"], found["fields"]["pageType"]) == ("How a loom is warped", "en", "article")
    assert {"content", "title", "overall", "lang", "pageType"} <= set(found["confidence"])
    assert "facts" in found["usableFor"]


def test_what_comes_in_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ARTICLE.read_bytes())))

    assert run(["extract", "-"]) == 0
    assert capsys.readouterr().out.startswith("Before a single row of cloth")


def test_one_section_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["extract", str(ARTICLE), "--section", "what can go wrong"]) == 0

    assert capsys.readouterr().out.startswith("## What can go wrong\n")


def test_a_section_that_is_not_there_is_told_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["extract", str(ARTICLE), "--section", "Dyeing"]) == 1

    assert "What can go wrong" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a file or an address"),
        (["nowhere.html"], "nowhere.html: No such file or directory"),
        (["--jsonl", "in.jsonl"], "give both --jsonl IN and --out DIR"),
    ],
)
def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert run(["extract", *arguments]) in (1, 2)

    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert said in told


def test_many_are_written_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "packed.html.gz").write_bytes(gzip.compress(ARTICLE.read_bytes()))
    lines = [
        {"id": "set__plain", "url": "https://notes.example/loom/", "path": str(ARTICLE)},
        {"id": "set__packed", "url": "https://notes.example/loom/", "path": "packed.html.gz"},
        {"id": "set__gone", "url": "", "path": "gone.html"},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(line) for line in lines))

    status = run(["extract", "--jsonl", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--workers", "2"])

    out = tmp_path / "out"
    plain, packed, gone = (json.loads((out / f"{line['id']}.json").read_bytes()) for line in lines)
    assert status == 1
    assert "set__gone: " in capsys.readouterr().err
    assert (out / "set__plain.md").read_bytes() == (out / "set__packed.md").read_bytes()
    assert plain.pop("ms") > 0
    assert packed.pop("ms") > 0
    assert plain == packed
    assert {"content", "title", "lang"} <= set(plain["confidence"])
    assert "No such file" in gone["error"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1"),
        ('{"id": "../up", "url": "", "path": "x"}', "cannot be the name of a file"),
        ('{"id": "a"}', "path"),
    ],
)
def test_a_line_that_is_no_page_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    (tmp_path / "in.jsonl").write_text(line)

    assert run(["extract", "--jsonl", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out")]) == 1
    assert said in capsys.readouterr().err
