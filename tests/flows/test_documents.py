"""What is no HTML comes over REST and from the command line in the shape of every page."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import UNSET

from protocol.confidence import FieldConfidence
from protocol.documents import ExtractedTable, Signal
from protocol.faults import Code
from tests.flows.system import System, refused
from tests.site import Site
from tests.site.documents import NOTES, report

pytestmark = pytest.mark.nats

TITLES = {
    "/json": "Threads",
    "/feed": "Notes",
    "/text": "text",
    "/csv": "csv",
    "/documents/report.pdf": "The report",
    "/documents/picture.jpg": "picture.jpg",
    "/documents/drawing.svg": "A loom",
    "/documents/readme.md": "Notes on looms",
    "/documents/notes": "Notes on looms",
    "/documents/offer": "Notes",
}
REPORT = (
    "A loom holds the threads of the warp in place while the weft is woven through them by the weaver.\n\n"
    "| Name | Length |\n| --- | --- |\n| warp | 12 |\n| weft | 9 |"
)


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.slow] if path.endswith(".pdf") else []) for path in TITLES]
)
def test_every_kind_has_one_shape(weft: System, site: Site, path: str) -> None:
    result = weft.page(site.url(path))

    assert (result.title, result.metadata.tier, result.metadata.final_url) == (
        TITLES[path],
        "intelligence",
        site.url(path),
    )
    assert bool(result.content.markdown)
    assert bool(result.content.text)
    assert isinstance(result.field_confidence, FieldConfidence)
    assert result.field_confidence.content.score > 0


def test_a_pdf_is_read_as_a_page(weft: System, site: Site) -> None:
    result = weft.page(site.url("/documents/report.pdf"))

    assert result.fields is not UNSET
    fields = result.fields
    assert (result.content.markdown, result.metadata.language) == (REPORT, "en")
    assert result.tables == (ExtractedTable(headers=("Name", "Length"), rows=(("warp", "12"), ("weft", "9"))),)
    assert (fields.authors, fields.page_count, fields.published) == (("Ann Weaver",), 2, "2024-01-02T03:04:05+00:00")


@pytest.mark.parametrize(
    ("name", "words"),
    [("scan.pdf", "no text: only pictures, as of a scan"), ("locked.pdf", "opens only with a password")],
)
def test_a_pdf_without_text_says_why_and_nobody_climbs(weft: System, site: Site, name: str, words: str) -> None:
    error = refused(weft.browse(site.url(f"/documents/{name}")))

    assert (error.code, words in error.error) == (Code.CONTENT_UNSUPPORTED_TYPE, True)
    assert site.hits[f"/documents/{name}"] == 1


def test_an_image_says_what_it_is(weft: System, site: Site) -> None:
    result = weft.page(site.url("/documents/picture.jpg"))

    assert result.content.text == (
        "JPEG image, 40 \N{MULTIPLICATION SIGN} 30 pixels.\n\nA weaver at the loom\n\nBy Ann Weaver"
    )
    assert result.signals == (Signal.NON_TEXT_CONTENT,)


def test_a_shell_with_an_offer_is_read_without_a_browser(weft: System, site: Site) -> None:
    assert weft.page(site.url("/documents/offer")).content.markdown == NOTES.strip()


@pytest.mark.slow
def test_a_pdf_is_read_by_the_command_line(weft: System, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(report())

    done = weft.run("extract", str(file))

    assert (done.returncode, done.stdout.strip()) == (0, REPORT)
