"""What `weft extension` writes: its own files and the page code, whole, with no leave that it does not need."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from actors.cli.extension import extension_files, write_extension
from actors.fetchers.playwright.view.documents import PARTS
from actors.gateway.access.rules import EXTENSION_ORIGIN
from protocol.faults import FaultError
from tests.requirements import requirement

MOST_GZ = 60_000
MARKUP = re.compile(
    r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|setHTMLUnsafe|createContextualFragment"
    r"|\beval\(|new Function|import\("
)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return dict(extension_files())


def test_it_asks_for_no_more_than_it_needs_and_has_the_id_that_the_gateway_answers(files: dict[str, bytes]) -> None:
    manifest = json.loads(files["manifest.json"])
    digest = hashlib.sha256(base64.b64decode(manifest["key"])).hexdigest()[:32]

    assert manifest["manifest_version"] == 3
    assert sorted(manifest["permissions"]) == ["activeTab", "scripting", "sidePanel", "storage"]
    assert manifest["optional_host_permissions"] == ["http://*/*", "https://*/*"]
    asked_for = {"host_permissions", "content_scripts", "optional_permissions", "web_accessible_resources", "sandbox"}
    assert not asked_for & set(manifest)
    assert manifest["externally_connectable"] == {"matches": ["http://127.0.0.1/*", "http://localhost/*"]}
    assert "script-src 'self';" in manifest["content_security_policy"]["extension_pages"]
    letters = digest.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))
    assert f"chrome-extension://{letters}" == EXTENSION_ORIGIN


@requirement("001.6.semantic")
def test_the_page_code_is_that_of_the_browser_tier_byte_for_byte(files: dict[str, bytes]) -> None:
    view = resources.files("actors.fetchers.playwright") / "scripts" / "view"
    order = json.loads(files["page/files.js"].decode().rpartition("= ")[2].rstrip(";\n"))

    assert {name: files[f"view/{name}.js"] for name in PARTS} == {
        name: view.joinpath(f"{name}.js").read_bytes() for name in PARTS
    }
    assert order[: len(PARTS)] == [f"view/{name}.js" for name in PARTS]
    own = {name for name in files if name.startswith("page/")} - {"page/files.js"}
    assert (set(order[len(PARTS) :]), len(order)) == (own, len(PARTS) + len(own))
    assert all(name in files for name in order)


def test_nothing_in_it_comes_from_elsewhere_or_makes_markup_of_words(files: dict[str, bytes]) -> None:
    own = {name: body.decode() for name, body in files.items() if name.endswith((".js", ".html"))}

    assert {name: MARKUP.findall(body) for name, body in own.items() if MARKUP.search(body)} == {}
    assert not [name for name, body in own.items() if re.search(r"(?:src|href)=\"(?:https?:)?//", body)]
    weight = len(gzip.compress(b"".join(body for name, body in files.items() if not name.startswith("view/")), 9))
    assert weight <= MOST_GZ


def test_a_zip_holds_what_the_folder_holds_and_another_folder_is_left_alone(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    folder, archive = tmp_path / "unpacked", tmp_path / "weft.zip"
    write_extension(folder)
    (folder / "page" / "old.js").write_text("")
    write_extension(folder)
    write_extension(archive)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")

    with zipfile.ZipFile(archive) as zipped:
        assert {name: zipped.read(name) for name in zipped.namelist()} == files
    assert {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()} == files
    with pytest.raises(FaultError):
        write_extension(other)
    assert (other / "mine.txt").read_text() == "mine"
