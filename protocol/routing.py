"""Which model is asked for what by configuration: the default table, models by class, ladders (config/routing.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Generic, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct

from protocol.documents import NonEmpty
from protocol.models import FALLBACK_MODEL, FALLBACK_PROVIDER, ModelClass, ModelName, Provider
from protocol.routes import ToolPattern

ModelReference = Annotated[
    str, Meta(max_length=300, pattern=rf"^(?:{'|'.join(Provider)})/\S+$(?!\n)", description="As provider/model.")
]

FALLBACK: Final = ModelName(provider=Provider(FALLBACK_PROVIDER), model=FALLBACK_MODEL)
FALLBACK_CLASS: Final = ModelClass.STANDARD
"""What is asked for where no route matches (004 "Fallback")."""


def model_name(reference: str) -> ModelName:
    """Read a model as it is written, `provider/model`; raises ValueError for what is none."""
    provider, _, model = reference.partition("/")
    if not model:
        msg = f"{reference!r} is not provider/model"
        raise ValueError(msg)
    return ModelName(provider=Provider(provider), model=model)


class RouteRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table: the model for the tools of a pattern, and who is asked first where it cannot be."""

    tools: ToolPattern
    category: ModelClass
    model: ModelReference
    fallbacks: tuple[ModelReference, ...] = ()


class ClassModels(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model of a provider for each class; empty: it has none."""

    simple: str = ""
    standard: str = ""
    complex: str = ""
    vision: str = ""

    def of(self, category: ModelClass) -> str:
        """Return the model of a class."""
        return str(getattr(self, category.value))


class RoutingFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of the files; a ladder goes from the cheapest model to the strongest."""

    order: tuple[Provider, ...] = ()
    routes: tuple[RouteRule, ...] = ()
    models: dict[Provider, ClassModels] = {}
    ladders: dict[Provider, tuple[NonEmpty, ...]] = {}


class _ByPattern(Protocol):
    @property
    def pattern(self) -> str: ...


P = TypeVar("P", bound=_ByPattern)


class PatternTable(Struct, Generic[P], frozen=True):
    """Rows by the tools that they are for: an exact name before a pattern, the longest pattern first (004)."""

    exact: Mapping[str, P]
    wildcards: tuple[tuple[str, P], ...]
    """By what the names begin with."""

    @classmethod
    def of(cls, rows: Iterable[P]) -> PatternTable[P]:
        """Sort the rows; of two with the same pattern the later one counts."""
        by_pattern = {row.pattern: row for row in rows}
        exact = {pattern: row for pattern, row in by_pattern.items() if not pattern.endswith("*")}
        stars = [(pattern[:-1], row) for pattern, row in by_pattern.items() if pattern.endswith("*")]
        return cls(exact, tuple(sorted(stars, key=lambda star: -len(star[0]))))

    def find(self, tool: str) -> P | None:
        """Return the row for a tool."""
        if (row := self.exact.get(tool)) is not None:
            return row
        return next((row for beginning, row in self.wildcards if tool.startswith(beginning)), None)

    def rows(self) -> tuple[P, ...]:
        """Return the rows in the order in which they are tried."""
        return (*self.exact.values(), *(row for _, row in self.wildcards))


class DefaultRoute(Struct, frozen=True, kw_only=True):
    """A row of the default table, read."""

    pattern: str
    category: ModelClass
    name: ModelName
    fallbacks: tuple[ModelName, ...] = ()


class Routing(Struct, frozen=True, kw_only=True):
    """The configuration as it is used."""

    order: tuple[Provider, ...] = tuple(Provider)
    table: PatternTable[DefaultRoute] = msgspec.field(default_factory=lambda: PatternTable[DefaultRoute]({}, ()))
    models: Mapping[Provider, ClassModels] = msgspec.field(default_factory=dict[Provider, ClassModels])
    ladders: Mapping[Provider, tuple[str, ...]] = msgspec.field(default_factory=dict[Provider, tuple[str, ...]])

    @classmethod
    def of(cls, *files: RoutingFile) -> Routing:
        """Lay files over each other, the last on top; providers that no order names come last."""
        rows = [_read(rule) for file in files for rule in file.routes]
        models: dict[Provider, ClassModels] = {}
        ladders: dict[Provider, tuple[str, ...]] = {}
        for file in files:
            for provider, named in file.models.items():
                models[provider] = _over(models.get(provider, ClassModels()), named)
            ladders |= file.ladders
        first = next((file.order for file in reversed(files) if file.order), ())
        return cls(
            order=tuple(dict.fromkeys((*first, *Provider))),
            table=PatternTable[DefaultRoute].of(rows),
            models=models,
            ladders=ladders,
        )

    def model(self, provider: Provider, category: ModelClass) -> ModelName | None:
        """Return the model of a provider for a class, if it has one."""
        models = self.models.get(provider)
        model = models.of(category) if models is not None else ""
        return ModelName(provider=provider, model=model) if model else None

    def category(self, tool: str) -> ModelClass:
        """Return the class of model that a tool asks for."""
        row = self.table.find(tool)
        return FALLBACK_CLASS if row is None else row.category

    def stronger(self, name: ModelName) -> ModelName | None:
        """Return the next model up the ladder of the same provider."""
        return self._beside(name, 1)

    def cheaper(self, name: ModelName) -> ModelName | None:
        """Return the next model down the ladder of the same provider."""
        return self._beside(name, -1)

    def _beside(self, name: ModelName, step: int) -> ModelName | None:
        ladder = self.ladders.get(name.provider, ())
        if name.model not in ladder:
            return None
        place = ladder.index(name.model) + step
        return ModelName(provider=name.provider, model=ladder[place]) if 0 <= place < len(ladder) else None


def _read(rule: RouteRule) -> DefaultRoute:
    return DefaultRoute(
        pattern=rule.tools,
        category=rule.category,
        name=model_name(rule.model),
        fallbacks=tuple(map(model_name, rule.fallbacks)),
    )


def _over(under: ClassModels, named: ClassModels) -> ClassModels:
    return ClassModels(**{category.value: named.of(category) or under.of(category) for category in ModelClass})
