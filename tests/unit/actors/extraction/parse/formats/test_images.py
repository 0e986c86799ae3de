"""Images get the shape of a page: what they are, and the words that were put into them."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import pytest
from PIL import Image, PngImagePlugin

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from protocol.documents import Signal
from protocol.faults import Code, FaultError

URL = "https://a.example/pictures/loom.jpg"
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="r" xmlns:dc="d" xmlns:i="i"><rdf:Description>'
    "<dc:title><rdf:Alt><rdf:li>A loom</rdf:li></rdf:Alt></dc:title>"
    "<i:AltTextAccessibility><rdf:Alt><rdf:li>A weaver at a loom</rdf:li></rdf:Alt></i:AltTextAccessibility>"
    "</rdf:Description></rdf:RDF></x:xmpmeta>"
)


def picture(kind: str, **options: object) -> bytes:
    """Write a picture of 40 by 30 pixels."""
    file = BytesIO()
    Image.new("RGB", (40, 30), "red").save(file, kind, **options)
    return file.getvalue()


def read(body: bytes) -> Extraction:
    return extract(body, "", URL)


def failed(body: bytes) -> Code:
    with pytest.raises(FaultError) as caught:
        read(body)
    return caught.value.fault.code


def bomb() -> bytes:
    """Write the head of a PNG that says it has 400 megapixels."""
    head = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1_000))))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF"])
def test_every_image_says_what_it_is(kind: str) -> None:
    found = read(picture(kind))

    size = "24 \N{MULTIPLICATION SIGN} 18" if kind == "ICO" else "40 \N{MULTIPLICATION SIGN} 30"
    assert found.summary.markdown == f"{kind} image, {size} pixels."
    assert (found.summary.title, found.summary.signals) == ("loom.jpg", (Signal.NON_TEXT_CONTENT,))
    assert found.summary.parts.fields.image == URL
    assert not found.evidence.markup


def test_the_words_of_exif_without_the_place() -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x013B], exif[0x8298] = "A weaver <b>at</b> the loom", "Ann", "\N{COPYRIGHT SIGN} Ann"
    exif.get_ifd(0x8769)[0x9003] = "2024:01:02 03:04:05"
    exif.get_ifd(0x8825)[2] = (48.0, 12.0, 30.0)
    found = read(picture("JPEG", exif=exif.tobytes()))

    fields = found.summary.parts.fields
    assert (fields.description, fields.authors) == ("A weaver <b>at</b> the loom", ("Ann",))
    assert fields.published == "2024-01-02T03:04:05"
    assert "\n\nA weaver \\<b\\>at\\</b\\> the loom\n\nBy Ann\n\n" in found.summary.markdown
    assert "48" not in found.summary.markdown


def test_the_words_of_xmp_come_first() -> None:
    found = read(picture("JPEG", xmp=XMP.encode()))

    assert (found.summary.title, found.summary.parts.fields.description) == ("A loom", "A weaver at a loom")


def test_the_words_of_png() -> None:
    words = PngImagePlugin.PngInfo()
    words.add_text("Title", "A loom")
    words.add_itxt("Description", "Red\u200b threads")
    found = read(picture("PNG", pnginfo=words))

    assert (found.summary.title, found.summary.parts.fields.description) == ("A loom", "Red threads")


def test_too_many_pixels_are_refused_before_they_are_decoded() -> None:
    assert failed(bomb()) is Code.CONTENT_TOO_LARGE


@pytest.mark.parametrize(
    "body", [b"\x89PNG\r\n\x1a\n", picture("JPEG")[:20], b"GIF89a", b"RIFF\x00\x00\x00\x00WEBPVP8 ", b"II*\x00\x08\x00"]
)
def test_what_is_damaged_is_refused(body: bytes) -> None:
    assert failed(body) is Code.CONTENT_UNSUPPORTED_TYPE


def test_a_drawing_shows_its_words() -> None:
    found = extract(
        b'<svg xmlns="http://www.w3.org/2000/svg"><title>A loom</title><desc>How it works</desc>'
        b"<defs><text>unused</text></defs><style>text{}</style><g><text>warp <tspan>and</tspan> weft</text></g>"
        b'<text display="none">hidden</text><g style="opacity:0"><text>hidden too</text></g>'
        b"<script>alert(1)</script><text>&lt;b&gt;</text></svg>",
        "image/svg+xml",
        "https://a.example/loom.svg",
    )

    summary = found.summary
    assert (summary.title, summary.markdown) == ("A loom", "How it works\n\nwarp and weft\n\n\\<b\\>")
    assert (summary.signals, summary.parts.left_out) == ((Signal.NON_TEXT_CONTENT,), {"invisible texts": 2})
