"""A collection as a folder of Markdown: names that every system takes, and front matter that nothing breaks out of."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.collection_export import INDEX, ExportedFile, ZipPieces, exported, source_file
from protocol.collection_views import SourceContent, SourceInfo
from protocol.collections import CaptureStatus, SourceKind
from tests.support.collecting import ME, collecting

PAGE = "https://looms.example/page"
AT = 1_700_000_000_000


def source(title: str, markdown: str, **other: Any) -> SourceContent:
    info = SourceInfo(
        id="src_1",
        collection_id="col_1",
        kind=SourceKind.URL,
        title=title,
        status=CaptureStatus.CAPTURED,
        added_at=AT,
        captured_at=AT,
        updated_at=AT,
        **other,
    )
    return SourceContent(info=info, markdown=markdown, content_hash="ab")


async def test_a_collection_is_written_as_files_and_an_index(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {f"{PAGE}/{name}": f"# {name}\n\nWords.\n" for name in ("con", "Looms", "looms", "a:b?c*d")}
        collection = await world.create("Looms: [all] of *them*")
        await world.add(collection, *world.pages, f"{PAGE}/gone")
        note = {"type": "note", "text": "---\ntitle: mine\n---\n", "title": "../../etc/passwd"}
        await world.tool("collection.add_sources", collectionId=collection, sources=[note])
        await world.settled(collection)

        files = {file.name: file.data.decode() async for file in exported(world.bus, ME, collection)}
        index = frontmatter.loads(files[INDEX])
        page = frontmatter.loads(files["Looms.md"])
        noted = frontmatter.loads(files["etc passwd.md"])

    assert set(files) == {INDEX, "Looms.md", "looms (2).md", "a b c d.md", "etc passwd.md", files_of_device(files)}
    assert index["title"] == "Looms: [all] of *them*"
    assert index["sources"] == 6
    assert "- [looms](<looms (2).md>)" in index.content
    assert f"- {PAGE}/gone (HTTP_NOT_FOUND)" in index.content
    assert page.content == "# Looms\n\nWords."
    assert (page["url"], page["version"], page["captured_at"]) == (f"{PAGE}/Looms", 1, "2023-11-14T22:13:20+00:00")
    assert noted.content == "---\ntitle: mine\n---"
    assert noted["title"] == "../../etc/passwd"


def files_of_device(files: dict[str, str]) -> str:
    """Return the file of the page that is called as a device is."""
    (name,) = (name for name, text in files.items() if text.endswith("# con\n\nWords.\n"))
    assert name.startswith("src_")
    return name


@pytest.mark.slow
@settings(max_examples=200)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_nothing_breaks_out_of_the_front_matter(title: str, summary: str, words: str) -> None:
    post = frontmatter.loads(source_file(source(f"{title}\n---\nevil: true\n", words, summary=summary)).decode())

    assert "evil" not in post.metadata
    assert set(post.metadata) <= {"title", "id", "kind", "captured_at", "added_at", "summary", "content_hash"}
    assert "evil: true" in str(post["title"])


def test_an_archive_is_packed_piece_by_piece() -> None:
    pieces = ZipPieces()
    data = b"".join(
        [pieces.add(ExportedFile("a.md", b"a" * 5_000)), pieces.add(ExportedFile("ü (2).md", b"u")), pieces.end()]
    )

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert {name: len(archive.read(name)) for name in archive.namelist()} == {"a.md": 5_000, "ü (2).md": 1}
