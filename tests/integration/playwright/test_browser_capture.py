"""What is taken of a page in a browser session: pictures, what a script comes to, and files that it downloads."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import Literal

import pytest
from PIL import Image

from protocol.browsers.operations import (
    CreateTab,
    ExecuteJavascript,
    GetDownloads,
    TakeScreenshot,
)
from protocol.browsers.results import Downloads, Evaluated, ScreenshotTaken
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, browsing
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

PAINTED = (
    "<body style='margin:0'><div style='height:2000px;background:#0a0'></div>"
    "<button style='width:80px;height:40px'>Go</button></body>"
)


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def picture(it: Driving, taken: ScreenshotTaken) -> Image.Image:
    image = Image.open(io.BytesIO(it.web.shelf.kept[taken.image.name]))
    assert (taken.width, taken.height) == image.size
    assert taken.image.size == len(it.web.shelf.kept[taken.image.name])
    return image


@pytest.mark.parametrize("form", first(1, ["png", "jpeg", "webp"]))
def test_a_picture_shows_the_window_in_the_form_that_was_asked_for(
    it: Driving, form: Literal["png", "jpeg", "webp"]
) -> None:
    it.show(PAINTED)
    taken = it.do(TakeScreenshot(format=form), ScreenshotTaken)
    image = picture(it, taken)

    assert (image.format, image.size) == (form.upper(), (1280, 800))
    assert taken.image.media_type == f"image/{form}"
    red, green, blue = image.convert("RGB").resize((1, 1)).tobytes()
    assert green > 150
    assert red < 20
    assert blue < 20


def test_a_picture_of_the_whole_page_is_as_high_as_the_page(it: Driving) -> None:
    it.show(PAINTED)

    assert picture(it, it.do(TakeScreenshot(full_page=True), ScreenshotTaken)).size == (1280, 2040)


def test_a_picture_of_an_endless_page_has_a_bound(it: Driving) -> None:
    it.show("<div style='height:90000px'></div>")

    assert it.do(TakeScreenshot(full_page=True), ScreenshotTaken).height == 16_000


def test_a_picture_of_an_element_shows_it_alone(it: Driving) -> None:
    it.show(PAINTED)

    assert picture(it, it.do(TakeScreenshot(element_id=it.id_of("Go")), ScreenshotTaken)).size == (80, 40)


def test_a_lesser_quality_takes_fewer_bytes(it: Driving) -> None:
    it.do(CreateTab(url=it.url("/article")), object)
    fine, coarse = (
        it.do(TakeScreenshot(format="jpeg", quality=quality), ScreenshotTaken).image.size for quality in (95, 5)
    )

    assert coarse < fine / 2


def test_what_there_is_no_picture_of_says_so(it: Driving) -> None:
    it.show("<button id=b>Go</button>")
    element = it.id_of("Go")
    both = it.fault(TakeScreenshot(element_id=element, full_page=True))
    missing = it.fault(TakeScreenshot(element_id="button_none"))

    assert code(both) == (Code.VALIDATION_INVALID_REQUEST, "fullPage")
    assert code(missing) == (Code.ELEMENT_NOT_FOUND, "element_id")


# -- scripts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("1 + 1", 2),
        ("document.title", "Loom"),
        ("() => document.title", "Loom"),
        ("async () => { await 0; return [1, 'a', null, {b: true}] }", [1, "a", None, {"b": True}]),
        ("const a = 2; return a * 3", 6),
        ("return await Promise.resolve('later')", "later"),
        ("Promise.resolve(5)", 5),
        ("undefined", None),
        ("let nothing = 1", None),
        ("({a: 1})", {"a": 1}),
        ("10n ** 20n", "100000000000000000000n"),
        ("0 / 0", "NaN"),
    ],
)
def test_a_script_comes_to_what_it_says(it: Driving, script: str, expected: object) -> None:
    it.show("<title>Loom</title>")

    assert it.js(script) == expected


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("throw new TypeError('no thread')", "TypeError: no thread"),
        ("nothing.here", "nothing is not defined"),
        ("Promise.reject(new Error('broke'))", "Error: broke"),
        ("throw 'plain'", "plain"),
        ("JSON.parse('{')", "SyntaxError"),
        ("this is no script", "SyntaxError"),
        ("window", "cannot be told as JSON"),
        ("location.reload(); await new Promise(() => {})", "went elsewhere"),
    ],
)
def test_a_script_that_fails_says_how(it: Driving, script: str, words: str) -> None:
    it.show("<title>Loom</title>")
    fault = it.fault(ExecuteJavascript(script=script))

    assert code(fault) == (Code.EXECUTION_ERROR, "script")
    assert words in fault.message


def test_a_script_is_run_once_even_if_it_fails(it: Driving) -> None:
    it.show("<script>let times = 0</script>")
    it.fault(ExecuteJavascript(script="times++, JSON.parse('{')"))
    it.fault(ExecuteJavascript(script="times++; return JSON.parse('{')"))

    assert it.js("times") == 2


@pytest.mark.parametrize("script", ["while (true) {}", "new Promise(() => {})"])
def test_a_script_that_never_ends_is_stopped_and_the_page_lives(
    it: Driving, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr("actors.fetchers.playwright.operations.capture._SCRIPT_S", 1.0)
    it.show("<title>Loom</title>")
    fault = it.fault(ExecuteJavascript(script=script))

    assert code(fault) == (Code.EXECUTION_ERROR, "script")
    assert "did not end" in fault.message
    assert it.js("document.title") == "Loom"


def test_a_long_result_is_cut(it: Driving) -> None:
    it.show("<title>Loom</title>")
    done = it.do(ExecuteJavascript(script="'x'.repeat(10000)"), Evaluated)

    assert (done.truncated, len(str(done.result))) == (True, 4_000)


def test_a_script_is_for_local_callers_alone(it: Driving) -> None:
    it.show("<title>Loom</title>")
    fault = it.fault(ExecuteJavascript(script="document.title = 'Ran'"), local=False)

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "script")
    assert it.js("document.title") == "Loom"


def test_a_script_is_run_only_where_the_operator_allows_it() -> None:
    with browsing() as web, driving(web) as it:
        it.show("<title>Loom</title>")
        fault = it.fault(ExecuteJavascript(script="1"))

    assert code(fault) == (Code.VALIDATION_INVALID_REQUEST, "script")
    assert "browser_javascript" in fault.message


# -- downloads ---------------------------------------------------------------------------------------------------------


def test_the_files_of_all_tabs_are_remembered_in_the_order_in_which_they_came(it: Driving) -> None:
    markup = "<a download=%s href='data:text/plain,%s'>Save</a>"
    it.show(markup % ("one.txt", "first"))
    it.click("Save")
    it.do(GetDownloads(), Downloads)
    it.do(CreateTab(), object)
    it.show(markup % ("two.txt", "second"))
    it.click("Save")
    files = it.do(GetDownloads(), Downloads).downloads

    assert [file.file_name for file in files] == ["one.txt", "two.txt"]
    assert [it.web.shelf.kept[file.name] for file in files] == [b"first", b"second"]


@pytest.mark.parametrize(("size", "kept"), first(1, [(90_000, 1), (300_000, 0)]))
def test_a_download_that_is_too_large_is_not_kept(size: int, kept: int) -> None:
    with browsing(fetch_max_bytes=100_000) as web, driving(web) as it:
        it.show(f"<a download=big.txt href='/huge?size={size}'>Save</a>")
        it.click("Save")
        files = it.do(GetDownloads(), Downloads).downloads

    assert len(files) == kept
