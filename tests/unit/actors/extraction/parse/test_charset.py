"""Bytes become text, whatever the labels say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.parse.charset import codec, decode

META = "<meta charset=windows-1252>"
XML = '<?xml version="1.0" encoding="koi8-r"?>'
GERMAN = "Weiß grüßt die Fäden und wünscht schöne Tücher — für 5 €"


@pytest.mark.parametrize(
    ("body", "content_type", "text", "name"),
    [
        (b"\xef\xbb\xbf" + GERMAN.encode(), "text/html; charset=iso-8859-1", GERMAN, "utf-8"),
        (b"\xff\xfe" + GERMAN.encode("utf-16-le"), "", GERMAN, "utf-16-le"),
        (b"\xfe\xff" + GERMAN.encode("utf-16-be"), "", GERMAN, "utf-16-be"),
        (GERMAN.encode(), "text/html; charset=iso-8859-1", GERMAN, "utf-8"),
        (GERMAN.encode()[:-1], "", GERMAN[:-1], "utf-8"),
        (GERMAN.encode("cp1252"), "text/html; charset=ISO-8859-1", GERMAN, "cp1252"),
        (GERMAN.encode("cp1252"), 'text/html; charset="latin1"', GERMAN, "cp1252"),
        (f"{META}{GERMAN}".encode("cp1252"), "text/html", f"{META}{GERMAN}", "cp1252"),
        ("织机上的经线".encode("gbk"), "text/html; charset=gb2312", "织机上的经线", "gb18030"),
        ("織機".encode("shift_jis"), "text/html; charset=Shift_JIS", "織機", "cp932"),
        ("織機".encode("iso-2022-jp"), "text/html; charset=iso-2022-jp", "織機", "iso2022_jp"),
        ("żółw".encode("iso-8859-2"), "text/html; charset=iso-8859-2", "żółw", "iso8859-2"),
        (f"{XML}ткань".encode("koi8-r"), "", f"{XML}ткань", "koi8-r"),
        (b"plain", "", "plain", "utf-8"),
        (b"", "", "", "utf-8"),
    ],
)  # fmt: skip
def test_decoding(body: bytes, content_type: str, text: str, name: str) -> None:
    assert decode(body, content_type) == (text, name)


RUSSIAN = "Привет, мир! Ткацкий станок натянут, и нити лежат ровно. " * 5
JAPANESE = "織機の糸はまっすぐに張られています。横糸を通します。" * 5
CHINESE = "织机上的经线绷得很紧，纬线从中间穿过去。" * 5
POLISH = "Zażółć gęślą jaźń; wątek i osnowa łączą się w tkaninę, którą można zszyć. " * 5
ENCODED = [
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc-jp"),
    (JAPANESE, "iso-2022-jp"),
    (CHINESE, "gbk"),
    (POLISH, "iso-8859-2"),
    (GERMAN, "cp1252"),
    (f"<p>{RUSSIAN}", "utf-16-le"),
    (f"<p>{JAPANESE}", "utf-16-be"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODED)
def test_a_guess_where_nothing_is_said(text: str, encoding: str) -> None:
    assert decode(f"<html><title>{text}</title>".encode(encoding))[0] == f"<html><title>{text}</title>"


@pytest.mark.parametrize(("text", "encoding"), ENCODED[:7])
@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", "gb2312", "windows-1251"])
def test_a_label_that_cannot_be_is_not_believed(text: str, encoding: str, label: str) -> None:
    lang = "pl" if text == POLISH else "x"
    body = f"<html lang={lang}><meta charset={label}><p>{text}</p>".encode(encoding)

    assert decode(body, f"text/html; charset={label}")[0] == body.decode(encoding)


@pytest.mark.parametrize("label", ["iso-8859-1", "iso-8859-15"])
def test_a_label_is_not_doubted_for_some_quotes(label: str) -> None:
    body = (
        "<p>It\N{NO-BREAK SPACE}is\N{NO-BREAK SPACE}\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}old</p>".encode(label)
        * 9
    )

    assert decode(body, f"text/html; charset={label}")[0] == body.decode(label)


def test_one_broken_character_leaves_the_others_whole() -> None:
    body = (POLISH.encode() * 3).replace("ę".encode(), b"\xc4 ", 1)

    text, name = decode(body, "text/html; charset=iso-8859-2")

    assert (text.count("\ufffd"), text.count("ą"), name) == (1, 75, "utf-8")


def test_a_long_page_cut_in_its_only_character_beyond_ascii() -> None:
    assert decode(b"warp and weft " * 80 + b"\xe2\x80") == ("warp and weft " * 80, "utf-8")


@pytest.mark.parametrize(
    "label", ["utf-7", "hex", "base64", "rot13", "idna", "zlib", "punycode", "", "x" * 100, "\x00"]
)
def test_labels_that_are_never_followed(label: str) -> None:
    assert codec(label) is None


@given(st.binary(max_size=300), st.text(max_size=60))
def test_it_always_gives_text(body: bytes, content_type: str) -> None:
    text, name = decode(body, content_type)

    assert isinstance(text, str)
    assert codec(name) == name or name.startswith("utf-16")
