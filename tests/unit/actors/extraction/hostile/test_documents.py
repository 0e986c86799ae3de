"""PDFs that are made to cost are read apart, and end within their bounds; the next one is read."""

from __future__ import annotations

import time
import zlib

import anyio
import pytest

from actors.extraction.page import extract
from actors.fetchers.extractor import Extractor
from protocol.faults import Code, FaultError
from tests.support.pdf import Sheet, pdf
from tests.support.scale import sized

URL = "https://a.example/a.pdf"
GOOD = pdf([Sheet().words("A harmless page", 72, 72)])
_MIB = 1 << 20


def _packed(piece: bytes, times: int) -> bytes:
    """Write a page whose content is a piece many times over, packed."""
    packer = zlib.compressobj(9)
    content = b"".join(packer.compress(piece) for _ in range(times)) + packer.flush()
    body = pdf([Sheet()])
    empty = b"<< /Length 0  >>\nstream\n\nendstream"
    assert empty in body
    return body.replace(
        empty, b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(content), content)
    )


def words() -> bytes:
    """Write 350 MB of words, or less where not everything is tried."""
    return _packed(b"BT /F1 11 Tf 72 700 Td (spam) Tj ET\n" * 10_000, sized(50, 1_000))


def spaces() -> bytes:
    """Write a gigabyte of spaces."""
    return _packed(b" " * _MIB, sized(64, 1_024))


def lines() -> bytes:
    """Draw half a million lines."""
    return _packed(
        b"".join(b"%d %d m %d %d l S\n" % (i % 600, i % 790, i * 7 % 600, i % 790) for i in range(50_000)), sized(2, 10)
    )


def grid() -> bytes:
    """Draw as many cells as a page has points."""
    rows = b"".join(b"%d 0 m %d 790 l S 0 %d m 600 %d l S\n" % (i, i, i, i) for i in range(0, 600, 2))
    return _packed(rows, 1)


def letters() -> bytes:
    """Write five million letters in one place."""
    return _packed(b"BT /F1 11 Tf 1 0 0 1 72 700 Tm (" + b"x" * sized(250_000, 5_000_000) + b") Tj ET", 1)


def levels() -> bytes:
    """Open a million arrays."""
    return b"%PDF-1.7\n1 0 obj\n" + b"[" * sized(50_000, 1_000_000) + b"\nendobj\ntrailer << /Root 1 0 R >>"


@pytest.mark.slow
async def test_a_hostile_document_ends_and_the_next_is_read() -> None:
    with anyio.fail_after(160):
        async with Extractor() as extractor:
            for hostile in (words, spaces, lines, grid, letters, levels):
                try:
                    found = await extractor.run(extract, hostile(), "application/pdf", URL, clock=time.thread_time)
                except FaultError as error:
                    assert error.fault.code in (Code.CONTENT_TOO_LARGE, Code.CONTENT_UNSUPPORTED_TYPE), hostile  # noqa: PT017 - or it is read
                else:
                    assert len(found.summary.markdown) < _MIB, hostile
                after = await extractor.run(extract, GOOD, "application/pdf", URL)

                assert after.summary.markdown == "A harmless page", hostile
