"""Every expression that a text is held to can be told in words, and what the words show as an example fits it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct, inspect

import actors.gateway
import actors.settings
import protocol
from protocol.shapes import in_words, shape


def structs(kind: type[Struct] = Struct) -> Iterator[type[Struct]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from structs(inner)


def expressions(info: inspect.Type) -> Iterator[str]:
    match info:
        case inspect.StrType():
            yield from filter(None, [info.pattern])
        case inspect.Metadata():
            yield from expressions(info.type)
        case inspect.UnionType():
            for one in info.types:
                yield from expressions(one)
        case inspect.VarTupleType() | inspect.ListType():
            yield from expressions(info.item_type)
        case inspect.DictType():
            yield from expressions(info.key_type)
            yield from expressions(info.value_type)
        case _:
            pass


def declared() -> set[str]:
    """Return the expressions of everything that is said, set and asked for."""
    for package in (protocol, actors.settings, actors.gateway):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    plain = {kind for kind in structs() if not getattr(kind, "__parameters__", ())}
    ours = [kind for kind in plain if kind.__module__.startswith(("protocol.", "actors.gateway.", "actors.settings."))]
    found = set[str]()
    for kind in ours:
        with suppress(NameError, TypeError):  # what is no message may have types that msgspec does not read
            info = inspect.type_info(kind)
            assert isinstance(info, inspect.StructType)
            found.update(one for field in info.fields for one in expressions(field.type))
    return found


def test_every_shape_has_words_with_an_example_that_fits() -> None:
    found = declared()

    assert len(found) > 40
    for expression in found:
        words = shape(expression)
        assert words, expression
        if example := re.search(r"such as (\S+)", words):
            assert re.search(expression, example[1]), (expression, words)


def test_a_complaint_is_told_in_words() -> None:
    assert in_words(r"Expected `str` matching regex '^run_[A-Za-z0-9_-]{22,86}$(?!\\n)'").endswith("begins with run_")
    assert in_words("Expected `str` of length >= 1") == "It is empty"
    assert in_words("Expected `int`, got `str`") == "Expected `int`, got `str`"
