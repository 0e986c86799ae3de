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
from actors.fetchers.playwright.view.documents import PARTS, program
from actors.gateway.access.rules import EXTENSION_ORIGIN
from protocol.faults import FaultError
from tests.extension import other_tokens
from tests.requirements import requirement

MOST_GZ = 62_000
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
    order: list[str] = json.loads(files["page/files.js"].decode().rpartition("=")[2].rstrip(";\n"))
    page_code = [name for name in order if name.startswith("view/")]
    injected = program().encode()

    assert len(page_code) > len(PARTS) / 2
    assert [name for name in page_code if files[name] not in injected] == []
    assert page_code == [f"view/{name}.js" for name in PARTS if f"view/{name}.js" in page_code]
    assert set(order) == {name for name in files if name.startswith(("view/", "page/"))} - {"page/files.js"}
    assert order[: len(page_code)] == page_code


@pytest.mark.slow
def test_its_scripts_are_what_was_written_without_comments(files: dict[str, bytes]) -> None:
    actors = resources.files("actors")
    scripts = [name for name in files if name.endswith(".js") and name != "page/files.js"]

    def source(name: str) -> str:
        room = "gateway/extension" if not name.startswith("view/") else "fetchers/playwright/scripts"
        return actors.joinpath(*room.split("/"), *name.split("/")).read_text(encoding="utf-8")

    sources = {name: source(name) for name in scripts}
    assert other_tokens({name: (text, files[name].decode()) for name, text in sources.items()}) == []
    assert not any(re.search(rb"^\s*//", files[name], re.MULTILINE) for name in scripts)


def test_nothing_in_it_comes_from_elsewhere_or_makes_markup_of_words(files: dict[str, bytes]) -> None:
    own = {name: body.decode() for name, body in files.items() if name.endswith((".js", ".html"))}

    assert {name: MARKUP.findall(body) for name, body in own.items() if MARKUP.search(body)} == {}
    assert not [name for name, body in own.items() if re.search(r"(?:src|href)=\"(?:https?:)?//", body)]


def test_all_of_it_is_small(files: dict[str, bytes]) -> None:
    assert len(gzip.compress(b"".join(files.values()), 9)) <= MOST_GZ


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
