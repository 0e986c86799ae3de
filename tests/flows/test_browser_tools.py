"""A form of the test site, filled in and sent by the 28 browser tools, over each transport and in each era."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mcp import Client
from mcp.types import CallToolResult, ImageContent, ResourceLink

from actors.gateway.errors import ToolError
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.tools.browser import BROWSER_TOOLS
from actors.gateway.mcp.toolsets import Toolset
from protocol.browsers.operations import SESSION_PREFIX
from protocol.browsers.results import ErrorCode
from tests.flows.mcp_clients import Era, Transport, connected, text_of
from tests.flows.system import System
from tests.requirements import requirement
from tests.site import Site
from tests.site.answers import Reply, text
from tests.site.rehearsed import ARRANGED
from tests.support.scale import first

pytestmark = [pytest.mark.nats, pytest.mark.browser]

LIMIT_S = 240.0
"""What a whole session of about forty calls may take on a busy machine."""

FORM = "/rehearsed/form"
FILE = "/rehearsed/file"

HTML = """<html lang=en><title>Order a loom</title><body><main><h1>Order a loom</h1>
<form onsubmit="event.preventDefault(); send()">
<label>Full name <input name=name required></label>
<label>Note <textarea name=note></textarea></label>
<label>Colour <select name=colour><option value=r>Red</option><option value=b>Blue</option></select></label>
<label><input type=checkbox name=terms> I agree</label>
<label>Drawing <input type=file name=drawing></label>
<button>Send order</button></form>
<button onclick="answer = confirm('Really a loom?'); say('asked', 'Answered ' + answer)">Ask me</button>
<button onmouseover="say('hovered', 'Pointed at')">Look here</button>
<a href="FILE">Price list</a>
<p id=asked></p><p id=hovered></p><p id=keys></p><p id=sent></p>
<div style="height: 4000px"></div><p>The end of the page.</p></main><script>
const say = (id, words) => { document.getElementById(id).textContent = words; };
const send = () => {
  const form = document.forms[0], file = form.drawing.files[0];
  say('sent', `Thank you, ${form.name.value}: ${form.note.value}, ${form.colour.value}, ${form.terms.checked}, `
    + `${file ? file.name + ' of ' + file.size : 'no drawing'}.`);
};
document.addEventListener('keydown', event => { if (event.key === 'Escape') say('keys', 'Pressed Escape'); });
console.log('the loom is ready');
fetch('/json').then(() => setTimeout(() => {
  document.body.insertAdjacentHTML('beforeend', '<p id=late>It came late.</p>');
}, 200));
</script></body></html>"""


@pytest.fixture(autouse=True)
def arranged() -> Generator[None]:
    """Have the site answer with the form and with the file that it links to."""
    attachment = (("Content-Type", "text/csv"), ("Content-Disposition", 'attachment; filename="prices.csv"'))
    ARRANGED[FORM] = [lambda _: text(HTML.replace("FILE", FILE))]
    ARRANGED[FILE] = [lambda _: Reply(200, b"loom,100\n", attachment)]
    yield
    del ARRANGED[FORM], ARRANGED[FILE]


@dataclass
class Visitor:
    """A client that works in one session of the browser, and remembers which tools it used."""

    client: Client
    session: str = ""
    used: set[str] = field(default_factory=set[str])

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Call a tool, whatever comes of it."""
        self.used.add(tool)
        own = {"sessionId": self.session} if self.session else {}
        return await self.client.call_tool(tool, own | arguments)

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed."""
        result = await self.answer(tool, **arguments)
        assert not result.is_error, (tool, text_of(result))
        return msgspec.convert(result.structured_content, dict[str, Any])

    async def refused(self, tool: str, /, **arguments: Any) -> ToolError:
        """Call a tool that has to fail."""
        result = await self.answer(tool, **arguments)
        assert result.is_error, (tool, text_of(result))
        return msgspec.convert(result.structured_content, ToolError)

    async def ids(self) -> dict[str, str]:
        """Return the ids of the elements by their labels."""
        info = await self.call("get_page_info")
        return {element["label"]: element["id"] for element in info["elements"]}

    async def words(self) -> str:
        """Read the page."""
        content = await self.call("get_page_content")
        return " ".join(section["text"] for section in content["sections"])


async def fill_in(visitor: Visitor, ids: dict[str, str]) -> None:
    """Fill in the form, each field in another way."""
    found = await visitor.call("find_element", query="full name")
    assert found["candidates"][0]["id"] == ids["Full name"]
    await visitor.call("type_text", element_id=ids["Full name"], text="Ada")
    await visitor.call("set_value", element_id=ids["Note"], value="with eight shafts")
    await visitor.call("select_option", element_id=ids["Colour"], value="Blue")
    await visitor.call("click", element_id=ids["I agree"])
    assert await visitor.ids() == ids


async def look_around(visitor: Visitor, ids: dict[str, str]) -> None:
    """Point, press, scroll, wait, and read what the page did meanwhile."""
    await visitor.call("hover", element_id=ids["Look here"])
    await visitor.call("press_key", key="Escape")
    await visitor.call("wait", selector="#late")
    stable = await visitor.call("wait_for_stable")
    down = await visitor.call("scroll", direction="down")
    requests = await visitor.call("get_network_logs", filter="xhr")
    lines = await visitor.call("get_console_logs")
    words = await visitor.words()

    assert stable["stable"]
    assert down["success"]
    assert [entry["url"].rpartition("/")[2] for entry in requests["logs"]] == ["json"]
    assert "the loom is ready" in [line["text"] for line in lines["logs"]]
    assert all(said in words for said in ("Pointed at", "Pressed Escape", "It came late."))


async def answer_the_dialog(visitor: Visitor, ids: dict[str, str]) -> None:
    """Click what asks a question, and go on when it has its answer."""
    clicked = await visitor.call("click", element_id=ids["Ask me"])
    blocked = await visitor.refused("get_page_content")
    waiting = await visitor.call("get_dialog_info")
    await visitor.call("handle_dialog", action="accept")

    assert (clicked["dialog"]["message"], clicked["nextActions"][0]["tool"]) == ("Really a loom?", "handle_dialog")
    assert blocked.error_code is ErrorCode.EXECUTION_ERROR
    assert blocked.next_actions
    assert blocked.next_actions[0].tool == "handle_dialog"
    assert waiting["pendingDialog"]["type"] == "confirm"
    assert "Answered true" in await visitor.words()


async def take_along(visitor: Visitor, ids: dict[str, str]) -> None:
    """Take a picture of the page, and a file from it."""
    picture = await visitor.answer("screenshot", format="jpeg")
    images = [content for content in picture.content if isinstance(content, ImageContent)]
    assert [(one.mime_type, one.data[:4]) for one in images] == [("image/jpeg", "/9j/")]

    await visitor.call("click", element_id=ids["Price list"])
    listed = await visitor.answer("get_downloads")
    (link,) = (content for content in listed.content if isinstance(content, ResourceLink))
    read = await visitor.client.read_resource(link.uri)
    assert (link.size, "prices.csv" in text_of(listed)) == (9, True)
    assert [getattr(one, "blob", None) for one in read.contents] == ["bG9vbSwxMDAK"]


async def go_about(visitor: Visitor, site: Site) -> None:
    """Open, list, switch and close tabs, and go back."""
    opened = await visitor.call("create_tab", url=site.url("/article"))
    listed = await visitor.call("list_tabs")
    await visitor.call("navigate", url=site.url("/text"))
    back = await visitor.call("go_back")
    await visitor.call("switch_tab", tabId=1)
    await visitor.call("close_tab", tabId=opened["tabId"])
    left = await visitor.call("list_tabs")

    assert (listed["activeTabId"], [tab["id"] for tab in listed["tabs"]]) == (2, [1, 2])
    assert back["page"]["url"] == site.url("/article")
    assert (left["activeTabId"], [tab["id"] for tab in left["tabs"]]) == (1, [1])


async def use_what_is_local(visitor: Visitor, ids: dict[str, str], drawing: Path, transport: Transport) -> str:
    """Run a script and upload a file, which is for local clients alone; tells what the form says of the file then."""
    upload = {"element_id": ids["Drawing"], "filePath": str(drawing)}
    script = {"script": "document.title"}
    if transport == "http":
        codes = [(await visitor.refused("upload_file", **upload)).error_code]
        codes.append((await visitor.refused("execute_javascript", **script)).error_code)
        assert codes == [ErrorCode.INVALID_PARAMETER, ErrorCode.INVALID_PARAMETER]
        return "no drawing"
    await visitor.call("upload_file", **upload)
    assert (await visitor.call("execute_javascript", **script))["result"] == "Order a loom"
    return "drawing.txt of 13"


@requirement("002.1.existing-tools")
@pytest.mark.parametrize(
    ("transport", "era"), first(1, [("http", "auto"), ("http", "legacy"), ("stdio", "legacy"), ("stdio", "auto")])
)
@pytest.mark.slow
async def test_a_form_is_filled_in_by_the_28_tools(
    weft: System, site: Site, tmp_path: Path, transport: Transport, era: Era
) -> None:
    drawing = tmp_path / "drawing.txt"
    drawing.write_bytes(b"warp and weft")
    async with connected(weft, transport, era, LIMIT_S) as client:
        visitor = Visitor(client)
        visitor.session = (await visitor.call("create_session"))["sessionId"]
        went = await visitor.call("navigate", url=site.url(FORM))
        ids = await visitor.ids()
        await fill_in(visitor, ids)
        await look_around(visitor, ids)
        await answer_the_dialog(visitor, ids)
        await take_along(visitor, ids)
        said = await use_what_is_local(visitor, ids, drawing, transport)
        await go_about(visitor, site)
        sent = await visitor.call("click", element_id=ids["Send order"])
        words = await visitor.words()
        await visitor.call("close_session")
        gone = await visitor.refused("list_tabs")

    assert visitor.session.startswith(SESSION_PREFIX)
    assert (went["statusCode"], went["page"]) == (200, {"url": site.url(FORM), "title": "Order a loom"})
    assert sent["success"]
    assert f"Thank you, Ada: with eight shafts, b, true, {said}." in words
    assert gone.error_code is ErrorCode.SESSION_NOT_FOUND
    assert visitor.used == set(BROWSER_TOOLS)


@pytest.mark.parametrize(("transport", "era"), first(1, [("http", "legacy"), ("http", "auto"), ("stdio", "auto")]))
async def test_who_names_no_session_goes_on_in_their_own(
    weft: System, site: Site, transport: Transport, era: Era
) -> None:
    async with connected(weft, transport, era, LIMIT_S) as client:
        visitor = Visitor(client)
        went = await visitor.call("navigate", url=site.url("/article"))
        listed = await visitor.call("list_tabs")
        await visitor.call("close_session")

    assert went["sessionId"] == listed["sessionId"]
    assert site.url("/article") in [tab["url"] for tab in listed["tabs"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("click", {"element_id": "no_such_button"}, ErrorCode.ELEMENT_NOT_FOUND),
        ("click", {}, ErrorCode.INVALID_PARAMETER),
        ("navigate", {"url": "file:///etc/passwd"}, ErrorCode.INVALID_PARAMETER),
        ("navigate", {"url": "http://10.0.0.1/"}, ErrorCode.INVALID_PARAMETER),
        ("switch_tab", {"tabId": 77}, ErrorCode.INVALID_PARAMETER),
        ("wait", {"selector": "#never", "milliseconds": 200}, ErrorCode.ELEMENT_NOT_FOUND),
        ("handle_dialog", {"action": "accept"}, ErrorCode.EXECUTION_ERROR),
        ("list_tabs", {"sessionId": SESSION_PREFIX + "A" * 22}, ErrorCode.SESSION_NOT_FOUND),
    ],
)
@requirement("002.7.tool-errors")
async def test_an_error_has_its_code_and_a_way_out(
    weft: System, site: Site, tool: str, arguments: dict[str, Any], code: ErrorCode
) -> None:
    async with connected(weft, limit_s=LIMIT_S) as client:
        visitor = Visitor(client)
        await visitor.call("navigate", url=site.url(FORM))
        error = await visitor.refused(tool, **arguments)

    assert (error.error_code, error.details.tool) == (code, tool)
    assert error.recover_hint


async def test_without_the_toolset_there_are_no_browser_tools(weft: System) -> None:
    async with connected(weft, query="?toolsets=core") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]

    assert names == [name for name, entry in TOOLS.items() if entry.toolset is Toolset.CORE]
