"""The cache in memory is bounded, and keeps nobody's cookies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import cast

from hishel import Headers, Request, Response

from actors.fetchers.web.cache import MemoryStorage

KIB = 1_024


async def pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, KIB):
        yield b"x" * KIB


async def keep(storage: MemoryStorage, key: str, size: int, read: int | None = None, **headers: str) -> None:
    """Answer with `size` bytes, of which the client reads so many."""
    request = Request("GET", f"http://a.example/{key}", Headers({"accept": "*/*"}))
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    entry = await storage.create_entry(request, Response(200, Headers(fields), pieces(size)), key)
    taken = 0
    async for chunk in aiter_of(entry.response.stream):
        taken += len(chunk)
        if read is not None and taken >= read:
            return


def aiter_of(stream: object) -> AsyncIterator[bytes]:
    assert isinstance(stream, AsyncIterator)
    return cast("AsyncIterator[bytes]", stream)


async def body(storage: MemoryStorage, key: str) -> bytes | None:
    for entry in await storage.get_entries(key):
        return b"".join([chunk async for chunk in aiter_of(entry.response.stream)])
    return None


async def test_what_was_read_whole_is_kept() -> None:
    storage = MemoryStorage(1_000_000)
    await keep(storage, "a", 3 * KIB)

    assert await body(storage, "a") == await body(storage, "a") == b"x" * 3 * KIB


async def test_what_was_cut_is_not_kept() -> None:
    storage = MemoryStorage(1_000_000)
    await keep(storage, "a", 3 * KIB, read=KIB)

    assert storage.size == (0, 0)


async def test_what_is_too_large_is_passed_on() -> None:
    storage = MemoryStorage(100 * KIB)
    await keep(storage, "a", 26 * KIB)

    assert storage.size == (0, 0)


async def test_the_least_recently_used_goes_first() -> None:
    storage = MemoryStorage(44 * KIB)
    for key in "abcd":
        await keep(storage, key, 7 * KIB)
    await storage.get_entries("a")
    await keep(storage, "e", 7 * KIB)

    assert [key for key in "abcde" if await body(storage, key)] == ["a", "c", "d", "e"]
    assert storage.size == (4, 44 * KIB)


async def test_there_are_so_many_entries_at_most() -> None:
    storage = MemoryStorage(1_000_000, max_entries=2)
    for key in "abc":
        await keep(storage, key, KIB)

    assert [key for key in "abc" if await body(storage, key)] == ["b", "c"]


async def test_a_new_answer_takes_the_place_of_the_old() -> None:
    storage = MemoryStorage(1_000_000)
    await keep(storage, "a", KIB)
    await keep(storage, "a", 2 * KIB)

    assert (len(await storage.get_entries("a")), await body(storage, "a")) == (1, b"x" * 2 * KIB)


async def test_cookies_are_not_kept() -> None:
    storage = MemoryStorage(1_000_000)
    await keep(storage, "a", KIB, set_cookie="a=1", etag="x")
    (entry,) = await storage.get_entries("a")
    await storage.update_headers(entry.id, Headers({"set-cookie": "b=2", "etag": "y"}))
    (later,) = await storage.get_entries("a")

    assert (dict(entry.response.headers), dict(later.response.headers)) == ({"etag": "x"}, {"etag": "y"})


async def test_what_is_removed_is_gone() -> None:
    storage = MemoryStorage(1_000_000)
    await keep(storage, "a", KIB)
    (entry,) = await storage.get_entries("a")
    await storage.remove_entry(entry.id)
    await storage.remove_entry(entry.id)
    await storage.update_headers(entry.id, Headers({}))

    assert storage.size == (0, 0)
