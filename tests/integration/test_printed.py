"""What Chromium prints is read back as it was written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from protocol.documents import ExtractedTable
from protocol.page import Heading

pytestmark = pytest.mark.browser

PROSE = "A loom holds the threads of the warp in place while the weft is woven through them by a patient weaver. " * 5
PAGE = f"""<!doctype html><html lang="en"><head><title>On looms</title><style>
@page {{ size: A4 }} td, th {{ border: 1px solid #333; padding: 4px }} table {{ border-collapse: collapse }}
.columns {{ columns: 2 }}</style></head><body>
<h1>On looms</h1><p>{PROSE}</p><h2>Their parts</h2><p>{PROSE}</p><ul><li>The warp beam</li><li>The heddle</li></ul>
<table><tr><th>Name<th>Length</tr><tr><td>warp<td>12</tr><tr><td>weft<td>9</tr></table>
<h2>In columns</h2><div class="columns"><p>First: {PROSE}</p><p>Second: {PROSE}</p><p>Third: {PROSE}</p></div>
<p style="break-before: page">The last page.</p></body></html>"""


def printed(folder: Path) -> bytes:
    """Let Chromium print the page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if chromium is None:
        pytest.skip("no Chromium")
    source, target = folder / "page.html", folder / "page.pdf"
    source.write_text(PAGE, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/user"]
    subprocess.run(
        [chromium, *flags, f"--print-to-pdf={target}", source.as_uri()], check=True, capture_output=True, timeout=50
    )
    return target.read_bytes()


def read(folder: Path) -> Extraction:
    return extract(printed(folder), "application/pdf", "https://a.example/page.pdf")


@pytest.mark.slow
def test_a_printed_page_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read(tmp_path)

    prose = PROSE.strip()
    fields = found.summary.parts.fields
    assert (found.summary.title, fields.language, fields.page_count) == ("On looms", "en", 3)
    assert [heading for heading in fields.outline if heading.level < 3] == [
        Heading(level=1, text="On looms"),
        Heading(level=2, text="Their parts"),
        Heading(level=2, text="In columns"),
    ]
    assert found.summary.tables == (ExtractedTable(headers=("Name", "Length"), rows=(("warp", "12"), ("weft", "9"))),)
    assert found.summary.markdown == "\n\n".join(
        (
            prose,
            "## Their parts",
            prose,
            "- The warp beam\n- The heddle",
            "| Name | Length |\n| --- | --- |\n| warp | 12 |\n| weft | 9 |",
            "## In columns",
            f"First: {prose}",
            f"Second: {prose}",
            f"Third: {prose}",
            "The last page.",
        )
    )
