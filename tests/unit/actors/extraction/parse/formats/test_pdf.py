"""PDF gets the shape of a page: its words in reading order, its tables, and what it says of itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from actors.extraction.parse.formats import pdf as pdf_format
from protocol.confidence import Source
from protocol.documents import ExtractedLink, ExtractedTable, Signal
from protocol.faults import Code, FaultError
from protocol.page import Heading
from tests.support.pdf import HEIGHT, Sheet, pdf
from tests.support.scale import sized

URL = "https://a.example/papers/loom.pdf"
PROSE = (
    "A loom holds the threads of the warp in place while the weft is woven",
    "through them, and it does so for as long as the weaver needs it to.",
)
SAID = " ".join(PROSE)


def read(body: bytes) -> Extraction:
    return extract(body, "application/pdf", URL)


def markdown(*sheets: Sheet) -> str:
    return read(pdf(sheets)).summary.markdown


def article() -> Sheet:
    """Return a page with a title, a paragraph, a second heading and another paragraph."""
    sheet = Sheet().words("On looms", 72, 80, 20, "F2")
    y = sheet.lines(PROSE, 72, 120)
    sheet.words("How they work", 72, y + 24, 15, "F2")
    sheet.lines(PROSE, 72, y + 54)
    return sheet


def failed(body: bytes) -> tuple[Code, str, bool]:
    with pytest.raises(FaultError) as caught:
        read(body)
    return caught.value.fault.code, caught.value.fault.message, bool(caught.value.fault.actions)


def test_headings_and_paragraphs() -> None:
    assert markdown(article()) == f"{SAID}\n\n## How they work\n\n{SAID}"


def test_what_it_says_of_itself() -> None:
    told = {
        "Title": "On looms",
        "Author": "Ann Weaver; Bo Warp",
        "Subject": "Threads",
        "CreationDate": "D:20240102030405+01'00'",
        "ModDate": "D:20240203",
    }
    found = read(pdf([article()], told, language="en-GB"))

    fields = found.summary.parts.fields
    assert (found.summary.title, found.title.source, found.title.score) == ("On looms", Source.META_TAGS, 0.85)
    assert fields.authors == ("Ann Weaver", "Bo Warp")
    assert (fields.description, fields.language, fields.page_count) == ("Threads", "en-GB", 1)
    assert (fields.published, fields.modified) == ("2024-01-02T03:04:05+01:00", "2024-02-03T00:00:00")
    assert fields.outline == (Heading(level=1, text="On looms"), Heading(level=2, text="How they work"))
    assert found.fields["published"].score == 0.5
    assert (found.evidence.content_length, found.evidence.markup) == (len(found.summary.text or ""), False)


def test_the_largest_words_are_the_title_where_none_is_told() -> None:
    found = read(pdf([article()], {"Title": "Microsoft Word - loom.doc", "Author": "Administrator"}))

    assert (found.summary.title, found.title.source) == ("On looms", Source.HEURISTIC)
    assert found.summary.parts.fields.authors == ()


def test_a_document_without_a_title_has_its_address() -> None:
    sheet = Sheet()
    sheet.lines(PROSE, 72, 80)

    assert read(pdf([sheet])).summary.title == "loom.pdf"


def test_a_table_with_lines_stands_where_it_is_seen() -> None:
    sheet = article().grid([["Name", "Length"], ["warp | weft", "12"], ["weft", "9"]], 72, 400)
    sheet.words("After the table.", 72, 600)
    found = read(pdf([sheet]))

    table = ExtractedTable(headers=("Name", "Length"), rows=(("warp | weft", "12"), ("weft", "9")))
    assert found.summary.tables == (table,)
    assert [one.source for one in found.tables] == [Source.SELECTOR_MATCH]
    assert found.summary.markdown.endswith(
        "\n\n| Name | Length |\n| --- | --- |\n| warp \\| weft | 12 |\n| weft | 9 |\n\nAfter the table."
    )


def test_a_table_without_lines_is_seen_by_its_gaps_and_less_sure() -> None:
    sheet = Sheet()
    for number, row in enumerate((("Name", "Length"), ("warp", "12"), ("weft", "9"))):
        for column, text in enumerate(row):
            sheet.words(text, 72 + 120 * column, 100 + 15 * number)
    found = read(pdf([sheet]))

    assert found.summary.tables == (ExtractedTable(headers=("Name", "Length"), rows=(("warp", "12"), ("weft", "9"))),)
    assert [one.source for one in found.tables] == [Source.HEURISTIC]


def test_columns_of_prose_are_read_one_after_the_other_even_when_drawn_side_by_side() -> None:
    sheet = Sheet()
    for number in range(8):
        sheet.words(f"left words that say something {number}", 72, 100 + 14 * number)
        sheet.words(f"right words that say another thing {number}", 330, 100 + 14 * number)
    words = markdown(sheet)

    assert words.index("left words that say something 7") < words.index("right words that say another thing 0")
    assert "|" not in words


def test_lists() -> None:
    sheet = Sheet()
    sheet.words("\N{BULLET} of cotton", 90, 100).words("\N{BULLET} of wool that goes on", 90, 114)
    sheet.words("in the next line", 100, 128).words("1. warp", 90, 160).words("2. weft", 90, 174)

    assert markdown(sheet) == "- of cotton\n- of wool that goes on in the next line\n\n1. warp\n2. weft"


def test_programs_keep_their_lines_and_indents() -> None:
    sheet = Sheet().words("So it is done:", 72, 80)
    sheet.words("for thread in warp:", 72, 110, 10, "F3").words("weave(*thread)", 96, 122, 10, "F3")

    assert markdown(sheet) == "So it is done:\n\n```\nfor thread in warp:\n    weave(*thread)\n```"


def test_words_are_apart_where_only_a_gap_is_between_them() -> None:
    sheet = Sheet()
    sheet.drawn.append("BT /F1 11 Tf 1 0 0 1 72 700 Tm [(A)-300(loom)-300(of)-300(w)20(ood)] TJ ET")

    assert markdown(sheet) == "A loom of wood"


def test_each_line_of_a_table_of_contents_stands_for_itself() -> None:
    sheet = Sheet().words("1 Warp ................ 2", 72, 100).words("2 Weft ................ 14", 72, 114)

    assert markdown(sheet) == "1 Warp ................ 2\n\n2 Weft ................ 14"


def test_bullets_that_are_drawn() -> None:
    sheet = Sheet()
    for number, text in enumerate(("of cotton", "of wool")):
        sheet.area(80, 93 + 14 * number, 4, 4).words(text, 90, 100 + 14 * number)

    assert markdown(sheet) == "- of cotton\n- of wool"


def test_what_would_be_markup_is_escaped() -> None:
    assert markdown(Sheet().words("# no [heading](javascript:1) <b>", 72, 100)) == (
        "\\# no \\[heading\\](javascript:1) \\<b\\>"
    )


def test_a_paragraph_goes_on_over_the_page_and_what_every_page_repeats_is_left_out() -> None:
    sheets: list[Sheet] = []
    for number in range(4):
        sheet = Sheet().words("The Journal of Looms", 72, 30, 9).words(f"Page {number + 1} of 4", 280, HEIGHT - 20, 9)
        sheet.lines(["the sentence begins on one page and goes"] * 3, 72, 100)
        sheets.append(sheet)
    found = read(pdf(sheets))

    assert "\n" not in found.summary.markdown
    assert "Journal" not in found.summary.markdown
    assert found.summary.parts.left_out == {"lines that every page repeats": 8}


@pytest.mark.parametrize("turned", [0, 90])
def test_words_that_run_upwards_are_read_as_they_stand(turned: int) -> None:
    sheet = Sheet()
    for number, text in enumerate(PROSE):
        sheet.drawn.append(f"BT /F1 11 Tf 0 1 -1 0 {100 + 14 * number} 80 Tm ({text}) Tj ET")

    assert read(pdf([sheet], turned=turned)).summary.markdown == SAID


def test_what_nobody_sees_is_left_out_and_counted() -> None:
    sheet = article()
    sheet.words("white", 72, 500, more="1 1 1 rg").words("tiny", 72, 520, 0.5).words("beside", 900, 540)
    sheet.words("undrawn", 72, 560, more="3 Tr")
    found = read(pdf([sheet]))

    assert found.summary.markdown == markdown(article())
    assert found.summary.parts.left_out == {"invisible characters": len("whitetinybesideundrawn")}


def test_white_words_on_a_dark_area_are_seen() -> None:
    sheet = article().area(60, 480, 200, 40).words("White on black", 72, 505, more="1 1 1 rg")

    assert markdown(sheet).endswith("White on black")


def test_what_was_recognised_in_a_scan_is_its_text() -> None:
    sheet = Sheet().picture().words("Recognised words of a scan", 72, 100, more="3 Tr")

    assert markdown(sheet) == "Recognised words of a scan"


def test_links() -> None:
    sheet = article().words("See the other page", 72, 600).link(72, 588, 140, 16, "https://a.example/x")
    sheet.link(72, 588, 140, 16, "javascript:alert(1)")

    assert read(pdf([sheet])).summary.extracted_links == (
        ExtractedLink(url="https://a.example/x", text="See the other page"),
    )


def test_a_scan_has_no_text_and_says_what_to_do() -> None:
    assert failed(pdf([Sheet().picture()] * 2)) == (
        Code.CONTENT_UNSUPPORTED_TYPE,
        "The 2 pages of the PDF have no text: only pictures, as of a scan.",
        True,
    )


def test_a_page_that_is_a_picture_among_others_is_told() -> None:
    found = read(pdf([article(), Sheet().picture()]))

    assert found.summary.signals == (Signal.NON_TEXT_CONTENT,)
    assert found.summary.parts.left_out == {"pages without text": 1}


def test_a_locked_document_says_so() -> None:
    assert failed(pdf([article()], encrypted=True)) == (
        Code.CONTENT_UNSUPPORTED_TYPE,
        "The PDF is encrypted, and opens only with a password.",
        True,
    )


@pytest.mark.parametrize("body", [b"%PDF-1.7\nrubbish", pdf([article()])[:400]])
def test_a_damaged_document_is_refused(body: bytes) -> None:
    assert failed(body)[0] is Code.CONTENT_UNSUPPORTED_TYPE


def test_a_document_of_too_many_pages_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_format, "MAX_PAGES", 2)
    found = read(pdf([article()] * 5))

    assert found.summary.markdown.endswith("\n\n*(3 more pages)*")
    assert found.summary.parts.left_out == {"pages": 3}
    assert found.summary.parts.fields.page_count == 5


def test_a_document_that_takes_too_long_is_cut_and_says_so() -> None:
    clock = iter([0.0, pdf_format.MAX_SECONDS, pdf_format.MAX_SECONDS + 1]).__next__

    found = extract(pdf([article()] * 5), "application/pdf", URL, clock=clock)

    assert found.summary.parts.left_out == {"pages": 3}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("D:20240102030405Z", "2024-01-02T03:04:05+00:00"),
        ("D:20240102030405-05'30'", "2024-01-02T03:04:05-05:30"),
        ("20240102", "2024-01-02T00:00:00"),
        ("D:2024", "2024-01-01T00:00:00"),
        ("D:20241402", ""),
        ("D:19010101", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_days(told: str, expected: str) -> None:
    assert pdf_format.iso_day(told) == expected


def test_half_a_character_is_none() -> None:
    body = pdf([article()], {"Title": "AB"}).replace(b"feff00410042", b"feffd8000042")

    assert (read(body).summary.title, b"d8000042" in body) == ("On looms", True)


@settings(deadline=None, max_examples=sized(10, 60))
@given(st.data())
@pytest.mark.slow
def test_whatever_is_wrong_with_it_it_is_read_or_refused(data: st.DataObject) -> None:
    body = bytearray(pdf([article().grid([["a", "b"], ["c", "d"]], 72, 400)]))
    for _ in range(data.draw(st.integers(1, 8))):
        body[data.draw(st.integers(9, len(body) - 1))] = data.draw(st.integers(0, 255))

    try:
        read(bytes(body))
    except FaultError as error:
        assert error.fault.code is Code.CONTENT_UNSUPPORTED_TYPE  # noqa: PT017 - one of two ends
