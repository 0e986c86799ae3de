"""What a document is before anything runs."""

from __future__ import annotations

import time

import pytest

from actors.fetchers.lightweight import signals


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        (b"<p>words</p>", False),
        (b"<p>a description of <code>&lt;script></code></p>", False),
        (b'<script type="application/ld+json">{}</script><p>words</p>', False),
        (b'<script type="application/ld+json">{}</script><script>x()</script>', True),
        (b"<SCRIPT src=a.js></SCRIPT>", True),
        (b"<iframe src=a></iframe>", True),
        (b"<body onload='x()'>", True),
        (b'<meta http-equiv="refresh" content="0;url=/b">', True),
    ],
)
def test_whether_a_document_runs(body: bytes, *, runs: bool) -> None:
    assert signals.runs_scripts(body) is runs


@pytest.mark.parametrize(
    ("body", "chars"),
    [
        (b"<title>Not this</title><p>one</p> <p>two</p>", 6),
        (b"<script>let a = '<p>not this</p>';</script>one", 3),
        (b"<noscript>Enable it</noscript><style>p {}</style>", 0),
        (b"<script>never ends", 0),
        (b"words", 5),
    ],
)
def test_what_a_document_shows(body: bytes, chars: int) -> None:
    assert signals.shown_chars(body) == chars


@pytest.mark.parametrize("piece", [b"<script", b"<", b"<script>", b" onload", b"<p>", b"</script"])
@pytest.mark.slow
def test_a_hostile_document_takes_no_more_than_its_length(piece: bytes) -> None:
    quarter, whole = (min(_scan_s(piece * (size // len(piece))) for _ in range(3)) for size in (250_000, 1_000_000))

    assert whole < 8 * quarter + 0.05  # its square would be 16


def _scan_s(body: bytes) -> float:
    began = time.process_time()
    signals.runs_scripts(body)
    signals.shown_chars(body)
    return time.process_time() - began
