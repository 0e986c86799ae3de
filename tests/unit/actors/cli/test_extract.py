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
FRAMES = """<frameset><frame src=/menu.html name=menu><frame src=main.html title='The main part'>
<noframes><p>Your browser shows <b>no</b> frames.</p></noframes></frameset>"""
FRAMES_SHOWN = """A page of 2 frames: its words stand in them.

- [menu](https://a.example/menu.html)
- [The main part](https://a.example/b/main.html)

Your browser shows no frames.
"""


@pytest.mark.slow
def test_a_file_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["extract", str(ARTICLE), "--url", "https://notes.example/loom/"]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("Before a single row of cloth")
    assert "[shuttle](https://notes.example/notes/shuttle)" in printed


@pytest.mark.slow
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
    ("body", "status", "printed"),
    [
        ("", 1, "The file is empty"),
        (" \n", 1, "The file is empty"),
        ("<html><body><div id=root></div><script src=a.js></script></body></html>", 1, "no text is shown in it"),
        (
            FRAMES,
            0,
            FRAMES_SHOWN,
        ),
    ],
    ids=["empty", "blank", "shell", "frames"],
)
def test_what_has_no_text_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, status: int, printed: str
) -> None:
    (tmp_path / "a.html").write_text(body)

    assert run(["extract", str(tmp_path / "a.html"), "--url", "https://a.example/b/"]) == status

    shown = capsys.readouterr()
    assert printed in (" ".join(shown.err.split()) if status else shown.out)
    assert "browser" not in shown.err


@pytest.mark.parametrize(
    ("name", "body", "shown"),
    [
        ("b.md", "# H\n\n* one\n", "# H\n\n* one\n"),
        ("b.csv", "a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
        ("b.TSV.gz", "a\tb\n1\t2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
    ],
)
def test_the_name_of_a_file_tells_what_kind_of_text_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, body: str, shown: str
) -> None:
    data = body.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    assert run(["extract", str(tmp_path / name), "--url", "https://a.example/d/"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a file or an address"),
        (["nowhere.html"], "nowhere.html: No such file or directory"),
        (["--jsonl", "in.jsonl"], "give both --jsonl IN and --out DIR"),
        (["--jsonl", "in.jsonl", "--out", "o", "--section", "a"], "an excerpt is of a single page"),
        (["--jsonl", "in.jsonl", "--out", ""], "it is empty"),
        (["--jsonl", "in.jsonl", "--out", str(ARTICLE)], "name a place that can be written"),
    ],
)
def test_wrong_usage_is_told(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert run(["extract", *arguments]) in (1, 2)

    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert said in told


@pytest.mark.slow
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
    assert status == 4
    assert "gone.html: No such file or directory" in capsys.readouterr().err
    assert not (out / "set__gone.md").exists()
    assert (out / "set__plain.md").read_bytes() == (out / "set__packed.md").read_bytes()
    assert plain.pop("ms") > 0
    assert packed.pop("ms") > 0
    assert plain == packed
    assert {"content", "title", "lang"} <= set(plain["confidence"])
    assert "No such file" in gone["error"]
    assert "Errno" not in gone["error"]


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


@pytest.mark.slow
def test_the_other_lines_go_on_where_some_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = json.dumps(str(ARTICLE))
    lines = [
        f'{{"id": "a", "path": {page}}}',
        '{"id": "a", "path": "other.html"}',
        "",
        "no JSON",
        '{"id": "b", "path": "gone.html"}',
        '{"id": "c", "paht": "x"}',
        f'{{"id": "d/e", "path": {page}}}',
        f'{{"id": "f", "path": {page}}}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))

    assert run(["extract", "--jsonl", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--json"]) == 4

    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert sorted(path.name for path in (tmp_path / "out").glob("*.md")) == ["a.md", "f.md"]
    assert (result["extracted"], {one["line"]: one.get("field") for one in result["failed"]}) == (
        2,
        {2: "id", 4: None, 5: "path", 6: "path", 7: "id"},
    )
    assert "line 2: id: 'a' is that of line 1, too" in printed.err
    assert "line 5 (b): path: " in printed.err


@pytest.mark.full
@pytest.mark.slow
def test_a_table_of_twenty_thousand_rows_is_written_whole_and_a_page_beyond_all_bounds_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"<tr><td>{number}<td>word {number}<td>{2 * number}" for number in range(20_000))
    (tmp_path / "long.html").write_text(f"<h1>Words</h1><table><tr><th>n<th>word<th>twice{rows}</table>")
    (tmp_path / "deep.html").write_text("<b><i><u><p>" * 200_000)
    lines = [{"id": name, "path": f"{name}.html"} for name in ("long", "deep")]
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(line) for line in lines))

    assert run(["extract", "--jsonl", str(tmp_path / "in.jsonl"), "--out", str(tmp_path), "--workers", "1"]) == 4

    assert "(deep): The page needs more time or memory" in capsys.readouterr().err
    assert (tmp_path / "long.md").read_text().endswith("| 19999 | word 19999 | 39998 |")
    assert len(json.loads((tmp_path / "long.json").read_bytes())["tables"][0]["rows"]) == 20_000
    assert run(["extract", str(tmp_path / "long.html"), "--query", "row 19,999"]) == 0
    assert "| 19998 | word 19998 | 39996 |" in capsys.readouterr().out
