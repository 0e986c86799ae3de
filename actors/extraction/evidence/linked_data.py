"""Reads linked data (JSON-LD) into a flat list of objects, and chooses those that speak for the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from actors.extraction.evidence import json_values, schema_org
from actors.extraction.evidence.claim import ClaimPlace, PlaceKind, Standing
from actors.extraction.evidence.json_values import Json, items, mapping, scalar

MAX_BLOCKS = 300
"""How many blocks of one page are read: the page with the most has 60."""

MAX_REPAIRS = 4
"""How many broken blocks of one page go to the repair: it is a thousand times slower than the parser."""

MAX_NODES = 2_000
MAX_CHARS = 3_000_000

MAX_ENTITIES = 400
"""How many objects of one notation are looked at."""

_FAMILIES = {
    "Article": "Article NewsArticle BlogPosting Report ReportageNewsArticle AnalysisNewsArticle OpinionNewsArticle"
    " ReviewNewsArticle BackgroundNewsArticle LiveBlogPosting ScholarlyArticle MedicalScholarlyArticle"
    " AdvertiserContentArticle SatiricalArticle CreativeWork Review CriticReview ClaimReview Blogposting blogPosting"
    " PhotographAction Quotation",
    "Documentation": "TechArticle APIReference HowTo LearningResource DefinedTerm",
    "Product": "Product ProductGroup IndividualProduct ProductModel SomeProducts Vehicle Car product",
    "Forum": "DiscussionForumPosting QAPage Question SocialMediaPosting Conversation Discussion",
    "Recipe": "Recipe",
    "Event": "Event MusicEvent SportsEvent BusinessEvent TheaterEvent EducationEvent Festival ExhibitionEvent",
    "Video": "VideoObject Movie TVEpisode TVSeries Clip Episode AudioObject PodcastEpisode MusicRecording MusicAlbum",
    "Work": "Book Course SoftwareApplication WebApplication MobileApplication SoftwareSourceCode Dataset Game VideoGame"
    " JobPosting Service ProfessionalService LocalBusiness Restaurant Hotel TouristAttraction Place Accommodation",
    "Page": "WebPage ItemPage AboutPage ContactPage FAQPage MedicalWebPage Webpage webpage",
    "List": "CollectionPage SearchResultsPage ItemList Blog OfferCatalog ProfilePage",
    "Site": "WebSite Website",
}

_CONTENT = frozenset({"Article", "Documentation", "Product", "Forum", "Recipe", "Event", "Video", "Work"})
"""Families of which a page with several, none of them named as its own, is a list."""

_WITHIN = ("mainEntity", "mainEntityOfPage", "mainContentOfPage", "blogPost", "about", "hasPart", "itemListElement")
"""Properties in which the main entity of a page may stand."""

_WORDS = re.compile(r"\w+")


def linked_nodes(blocks: Iterable[str]) -> list[dict[str, Json]]:
    """Return the objects of all blocks in their order: those of lists and graphs one by one."""
    objects: list[dict[str, Json]] = []
    characters = repairs = 0
    for number, block in enumerate(blocks):
        characters += len(block)
        if number >= MAX_BLOCKS or characters > MAX_CHARS or len(objects) > MAX_NODES:
            break
        values = json_values.read(block, repair=False)
        if not values and block.strip() and repairs < MAX_REPAIRS:
            repairs += 1
            values = json_values.read(block)
        for value in values:
            objects.extend(_flat(value))
    return objects[:MAX_NODES]


def nodes_by_id(objects: Iterable[dict[str, Json]]) -> dict[str, dict[str, Json]]:
    """Return the objects that others may refer to: the fullest of those that share an `@id`."""
    index: dict[str, dict[str, Json]] = {}
    for node in objects:
        name = node.get("@id")
        if isinstance(name, str) and len(node) > len(index.get(name, ())):
            index[name] = node
    return index


class Entity(Struct, frozen=True):
    """An object that speaks for the page, the family of its type, and why it may."""

    family: str
    node: Mapping[str, Json]
    standing: Standing

    def place(self, kind: PlaceKind, name: str) -> ClaimPlace:
        """Return where the claim of one of its properties stands."""
        return ClaimPlace(kind, f"{self.family}.{name}", self.standing)


def family(node: Mapping[str, Json]) -> str:
    """Return the family of an object's first known type, "" when none is known."""
    return next((_FAMILY[kind] for kind in schema_org.types(node) if kind in _FAMILY), "")


def speaking(nodes: Iterable[Mapping[str, Json]], addresses: frozenset[str], titles: Sequence[str]) -> Iterator[Entity]:
    """Return the objects that speak for a page, one of each family.

    `addresses` are those of the page (see `address`), `titles` what it is called elsewhere.
    """
    families: dict[str, list[Mapping[str, Json]]] = {}
    for node in _opened(nodes):
        if name := family(node):
            families.setdefault(name, []).append(node)
    for name, members in families.items():
        yield _chosen(name, members, addresses, titles)


def address(url: str) -> str:
    """Return an address in the form in which two that lead to the same page are equal."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return ""
    path = unquote(parts.path).rstrip("/").lower()
    return f"{host}{path.removesuffix('/index.html').removesuffix('/amp')}"


def named(node: Mapping[str, Json]) -> str:
    """Return what an object is called."""
    return scalar(node.get("headline")) or scalar(node.get("name")) or scalar(node.get("title"))


def _flat(value: Json) -> Iterator[dict[str, Json]]:
    """Open lists and graphs; what an object holds in its properties stays there."""
    stack: list[Json] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(reversed(node[:MAX_NODES]))
        elif isinstance(node, dict):
            if len(node) > 1 + ("@context" in node) or "@graph" not in node:
                yield node
            stack.append(node.get("@graph"))


def _opened(nodes: Iterable[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """Return the objects and, where they describe a page, what they say it holds."""
    for number, node in enumerate(nodes):
        if number >= MAX_ENTITIES:
            return
        yield node
        if family(node) in {"Page", "List", ""} and "FAQPage" not in schema_org.types(node):
            for key in _WITHIN:
                for inner in items(node.get(key))[:MAX_ENTITIES]:
                    held = mapping(mapping(inner).get("item")) or mapping(inner)
                    if len(held) > 2:  # noqa: PLR2004 - fewer are a reference
                        yield held


def _chosen(name: str, members: list[Mapping[str, Json]], addresses: frozenset[str], titles: Sequence[str]) -> Entity:
    own = [member for member in members if _addresses(member) & addresses]
    if own:
        return Entity(name, max(own, key=len), Standing.OWN)
    if len(members) == 1 or name not in _CONTENT:
        strange = name in _CONTENT and bool(_addresses(members[0]))
        return Entity(name, members[0], Standing.ELSEWHERE if strange else Standing.OWN)
    titled = [member for member in members if _alike(named(member), titles)]
    if titled:
        return Entity(name, max(titled, key=len), Standing.TITLED)
    return Entity(name, members[0], Standing.FIRST)


def _addresses(node: Mapping[str, Json]) -> frozenset[str]:
    """Return the addresses by which an object names its page."""
    values: list[Json] = [node.get("url"), node.get("@id"), node.get("mainEntityOfPage")]
    page = mapping(node.get("mainEntityOfPage"))
    values.extend((page.get("@id"), page.get("url")))
    written = (scalar(value) for value in values)
    return frozenset(address(text) for text in written if "://" in text) - {""}


def _alike(text: str, titles: Sequence[str]) -> bool:
    words = set(_WORDS.findall(text.lower()))
    return bool(words) and any(words <= set(_WORDS.findall(title.lower())) for title in titles)


_FAMILY = {kind: family for family, kinds in _FAMILIES.items() for kind in kinds.split()}
