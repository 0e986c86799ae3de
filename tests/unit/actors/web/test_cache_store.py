"""What is kept is bounded, in memory and on the shelves that replicas share."""

from __future__ import annotations

from dataclasses import dataclass, field

from actors.web.cache_rules import StoredVariants
from actors.web.cache_store import SHARED_BYTES, STALE, MemoryStore, SharedStore
from bus import TransportError
from bus.stores import KeyChange
from protocol.faults import Code, FaultError, fault
from protocol.web import KeptAnswer, KeptAnswers

KIB = 1_024
COST = 4 * KIB
"""What an entry is counted with beside its body."""


def answer(name: str, size: int = KIB, **vary: str) -> KeptAnswer:
    return KeptAnswer(
        id=name, status=200, headers=(), received_at=0.0, vary=tuple(vary.items()), body=name[0].encode() * size
    )


async def keep(store: MemoryStore | SharedStore, key: str, *answers: KeptAnswer) -> int:
    """Replace what is kept of a key, as somebody does who has just looked."""
    return await store.put(key, answers, (await store.get(key)).revision)


@dataclass
class Shelf:
    """A bucket in a dict, which may be away."""

    held: dict[str, KeyChange[KeptAnswers]] = field(default_factory=dict[str, KeyChange[KeptAnswers]])
    away: bool = False
    unreadable: bool = False

    async def get(self, key: str) -> KeyChange[KeptAnswers] | None:
        if self.away:
            raise TransportError("away")
        if self.unreadable:
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET))
        return self.held.get(key)

    async def put(self, key: str, value: KeptAnswers, *, revision: int | None = None) -> int:
        if self.away:
            raise TransportError("away")
        last = held.revision if (held := self.held.get(key)) else 0
        if revision not in (None, last):
            raise ValueError(key)
        self.held[key] = KeyChange(key, value, last + 1)
        return last + 1


async def test_what_was_put_is_there() -> None:
    store = MemoryStore(1_000_000)
    revision = await keep(store, "a", answer("a"))

    assert await store.get("a") == StoredVariants((answer("a"),), revision)
    assert await store.get("b") == StoredVariants()


async def test_what_is_too_large_is_not_kept() -> None:
    store = MemoryStore(100 * KIB)
    await keep(store, "a", answer("a", 26 * KIB))

    assert store.size == (0, 0)


async def test_the_least_recently_used_goes_first() -> None:
    store = MemoryStore(44 * KIB)
    for key in "abcd":
        await keep(store, key, answer(key, 7 * KIB))
    await store.get("a")
    await keep(store, "e", answer("e", 7 * KIB))

    assert [key for key in "abcde" if (await store.get(key)).variants] == ["a", "c", "d", "e"]
    assert store.size == (4, 4 * (7 * KIB + COST))


async def test_there_are_so_many_keys_at_most() -> None:
    store = MemoryStore(1_000_000, max_entries=2)
    for key in "abc":
        await keep(store, key, answer(key))

    assert [key for key in "abc" if (await store.get(key)).variants] == ["b", "c"]


async def test_there_are_so_many_variants_at_most() -> None:
    store = MemoryStore(1_000_000)
    await keep(store, "a", *(answer(str(number)) for number in range(9)))

    assert [one.id for one in (await store.get("a")).variants] == list("12345678")


async def test_who_is_late_does_not_write() -> None:
    store = MemoryStore(1_000_000)
    first = await keep(store, "a", answer("a"))
    await store.put("a", (answer("b"),), first)

    assert await store.put("a", (answer("c"),), first) == STALE
    assert [one.id for one in (await store.get("a")).variants] == ["b"]


async def test_what_is_removed_is_gone() -> None:
    store = MemoryStore(1_000_000)
    await keep(store, "a", answer("a"))
    await keep(store, "a")

    assert (store.size, await store.get("a")) == ((0, 0), StoredVariants())


async def test_replicas_share_what_they_keep() -> None:
    shelf = Shelf()
    one, other = (SharedStore(shelf, MemoryStore(1_000_000), 10_000_000) for _ in range(2))
    revision = await keep(one, "a", answer("a"))

    assert await other.get("a") == StoredVariants((answer("a"),), revision)
    assert await keep(other, "a") == revision + 1
    assert await one.get("a") == StoredVariants((), revision + 1)
    assert await one.put("a", (answer("b"),), revision) == STALE


async def test_what_is_known_to_be_absent_is_not_asked_for_unless_it_must_be_the_latest() -> None:
    shelf = Shelf()
    await keep(SharedStore(shelf, MemoryStore(1_000_000), 1), "a", answer("a"))

    class Nothing:
        def absent(self, key: str) -> bool:
            return key == "0"

    store = SharedStore(shelf, MemoryStore(1_000_000), 1, Nothing())

    assert await store.get("a") == StoredVariants()
    assert [one.id for one in (await store.get("a", latest=True)).variants] == ["a"]


async def test_a_place_belongs_to_who_came_last() -> None:
    shelf = Shelf()
    store = SharedStore(shelf, MemoryStore(1_000_000), 1)
    await keep(store, "a", answer("a"))
    await keep(store, "b", answer("b"))

    assert [len((await store.get(key)).variants) for key in "ab"] == [0, 1]
    assert len(shelf.held) == 1


async def test_a_large_body_stays_where_it_came() -> None:
    shelf = Shelf()
    one, other = (SharedStore(shelf, MemoryStore(10_000_000), 10_000_000) for _ in range(2))
    large, small = answer("large", SHARED_BYTES + 1, accept="large"), answer("small", accept="small")
    await keep(one, "a", small, large)

    assert [kept.id for kept in (await one.get("a")).variants] == ["small", "large"]
    assert [kept.id for kept in (await other.get("a")).variants] == ["small"]
    (shelved,) = shelf.held.values()
    assert shelved.value is not None
    assert [kept.body for kept in shelved.value.variants] == [small.body, None]


async def test_while_the_bus_is_away_nothing_is_kept() -> None:
    shelf = Shelf()
    store = SharedStore(shelf, MemoryStore(1_000_000), 10_000_000)
    await keep(store, "a", answer("a"))
    shelf.away = True

    assert await store.get("a") == StoredVariants((), STALE)
    assert await keep(store, "a") == STALE
    assert await store.put("a", (), 1) == STALE


async def test_what_cannot_be_read_is_replaced() -> None:
    shelf = Shelf(unreadable=True)
    store = SharedStore(shelf, MemoryStore(1_000_000), 1)
    await shelf.put("0", KeptAnswers(key="a"))

    assert await store.get("a") == StoredVariants()
    await keep(store, "a", answer("a"))
    shelf.unreadable = False
    assert [one.id for one in (await store.get("a")).variants] == ["a"]
