"""Bytes become text, whatever the labels say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.extract.charset import codec, decode

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


def test_a_guess_where_nothing_is_said() -> None:
    text = "Привет, мир! Ткацкий станок натянут, и нити лежат ровно. " * 5

    assert decode(text.encode("cp1251"))[0] == text


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
