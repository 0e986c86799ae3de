"""Whether a compressed body came to its end: what HTTP counts as whole may be the half of what was compressed.

httpx2 notices that of zstd alone, and browsers of nothing: both show what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, cast

import httpx2


class _Decoder(Protocol):
    """What httpx2 unpacks a body with."""

    def decode(self, data: bytes) -> Iterator[bytes]: ...


DAMAGED = "The site's compressed answer ends early, or cannot be unpacked."


class CodingWatch:
    """Unpacks a body beside whoever passes it on, and keeps nothing of it."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], max_bytes: int) -> None:
        """Follow the body of an answer with these headers, until `max_bytes` of it are unpacked."""
        self._decoder = _decoder(httpx2.Response(200, headers=list(headers)))
        self._read = 0
        self._left = max_bytes

    def feed(self, data: bytes) -> None:
        """Unpack the next piece, raw as it came.

        Raises:
            httpx2.DecodingError: it cannot be unpacked.
        """
        self._read += len(data)
        if self._left > 0:
            for piece in self._decoder.decode(data):
                self._left -= len(piece)
                if self._left <= 0:
                    break

    @property
    def ends_early(self) -> bool:
        """Whether there must be more to come; False where that is unknown, since there was too much."""
        return self._read > 0 and self._left > 0 and _unfinished(self._decoder)


def ends_early(response: httpx2.Response) -> bool:
    """Return whether the body of an answer, which was read, stops before the end that its coding marks."""
    return response.num_bytes_downloaded > 0 and _unfinished(_decoder(response))


def _decoder(response: httpx2.Response) -> _Decoder:
    # The state of its decoder is nowhere else; a test holds that it is there for each coding.
    return response._get_content_decoder()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _unfinished(decoder: object) -> bool:
    return any(not _finished(one) for one in cast("Sequence[object]", getattr(decoder, "children", (decoder,))))


def _finished(decoder: object) -> bool:
    outer = getattr(decoder, "decompressor", None)
    inner = getattr(outer, "decompressor", outer)
    if (is_finished := getattr(inner, "is_finished", None)) is not None:
        return bool(is_finished())
    return bool(getattr(inner, "eof", True))
