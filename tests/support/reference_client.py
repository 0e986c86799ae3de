"""A client of `/api/agent/interact` as a browser extension is one, with a page of its own in a real Chromium.

It reads its page by the page code that an extension has, sends what 001 says, gives more of it when asked, and does
what it is told by an executor that knows nothing but action strings and the selector beside them.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from playwright.sync_api import Error, Locator, Page, sync_playwright

from actors.fetchers.playwright import chromium
from actors.fetchers.playwright.view.documents import program
from actors.settings import Settings

Json = dict[str, Any]
Send = Callable[[Json], Json]

MOST_ROUNDS: Final = 60
TRIES: Final = 20
NOT_INTERACTIVE: Final = frozenset({"text", "h", "img"})
WAIT_MS: Final = 5_000

_CALL: Final = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_ARGUMENT: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|`([^`]*)`|([^,]+?))\s*(?:,|$)""")
_READ: Final = "(args) => globalThis.weft.answer('semantic', args)"
_SKELETON: Final = """() => [...document.querySelectorAll(
  'a[href], button, input, select, textarea, [onclick], [role], [tabindex], [contenteditable]'
)].map((one) => one.outerHTML.slice(0, 2000)).join('\\n').slice(0, 100000)"""


@dataclass
class ReferenceClient:
    """One tab and its chat session; with `only_controls` its tree has no words beside them, as that of 001."""

    page: Page
    http: httpx2.Client
    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    only_controls: bool = False
    rounds: list[tuple[Json, Json]] = field(default_factory=list[tuple[Json, Json]])
    done: list[str] = field(default_factory=list[str])
    _next: int = 1

    def reach(self, query: str, send: Send | None = None) -> Json:
        """Go round by round until the task is over or waits; returns the last answer. `send` posts a round."""
        told: Json = {}
        for _ in range(MOST_ROUNDS):
            answer = self.take({**self.look(), "query": query, **told}, send or self.post)
            if answer["status"] in {"completed", "failed", "needs_user_input"}:
                return answer
            url = self.page.url
            error = self.perform(answer["action"], answer["actionDetails"])
            told = {
                "taskId": answer["taskId"],
                "previousUrl": url,
                "lastActionStatus": "failure" if error else "success",
            }
            told["clientObservations"] = {"didUrlChange": self.page.url != url}
            if error:
                told["lastActionError"] = {"message": error, "code": "NOT_DONE", "action": answer["action"]}
        raise AssertionError(self.done)

    def take(self, body: Json, send: Send) -> Json:
        """Send a round, and again with what more of the page is asked for."""
        answer = send(body)
        while answer["status"] in {"needs_context", "needs_full_dom"}:
            body = {**body, **self.more(answer)}
            answer = send(body)
        return answer

    def look(self) -> Json:
        """Read the page as it is sent with every round."""
        self.page.wait_for_load_state("load")
        self.page.evaluate(f"() => {{ if (!globalThis.weft) {{ {_program()} }} }}")
        arguments: Json = {"seeds": {"next": self._next, "entries": []}, "max_tokens": 1_500, "text": True}
        read = self.page.evaluate(_READ, arguments)
        self._next, tree = read["next"], read["result"]
        nodes = [one for one in tree["packed"]["nodes"] if not self.only_controls or one["r"] not in NOT_INTERACTIVE]
        return {
            "sessionId": self.session,
            "tabId": 7,
            "url": self.page.url,
            "pageTitle": self.page.title(),
            "domMode": "semantic",
            "interactiveTree": nodes,
            "viewport": {"width": tree["width"], "height": tree["height"]},
            "recentEvents": tree["recentEvents"],
            "hasErrors": tree["hasErrors"],
            "hasSuccess": tree["hasSuccess"],
        }

    def more(self, answer: Json) -> Json:
        """Return what more of the page is asked for, and nothing else."""
        mode, parts = answer["requestedDomMode"], Json()
        if mode == "full":
            parts["dom"] = self.page.content()[:200_000]
        if answer["needsSkeletonDom"]:
            parts["skeletonDom"] = self.page.evaluate(_SKELETON)
        if answer["needsScreenshot"]:
            parts["screenshot"] = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBk="
        return parts

    def post(self, body: Json) -> Json:
        """Send a request until it is answered: the same one may be sent as often as need be."""
        refused = ""
        for _ in range(TRIES):
            try:
                response = self.http.post("/api/agent/interact", json=body)
            except httpx2.TransportError:
                continue
            if response.status_code not in {429, 503, 504}:
                assert response.status_code == 200, response.text
                data: Json = response.json()["data"]
                self.rounds.append((body, data))
                return data
            refused = response.text
            self.page.wait_for_timeout(200)
        raise AssertionError(refused)

    def perform(self, action: str, details: Json) -> str:
        """Do what an action string says; returns why it could not be done, "" where it was."""
        name, arguments = parse_action(action)
        self.done.append(action)
        try:
            self._perform(name, arguments, details.get("selectorPath", ""))
        except Error as error:
            return str(error).splitlines()[0]
        self.page.wait_for_timeout(50)  # the stability that a client waits for before it looks
        self.page.wait_for_load_state("load")
        return ""

    def _perform(self, name: str, arguments: list[str], selector: str) -> None:
        match name, arguments:
            case "navigate", [url, *_]:
                self.page.goto(url)
            case "goBack", _:
                self.page.go_back()
            case "press", [key, *_]:
                self.page.keyboard.press(key)
            case "wait", [*seconds]:
                self.page.wait_for_timeout(1_000 * float(seconds[0] if seconds else 1))
            case "click", [element]:
                self._at(element, selector).click(timeout=WAIT_MS)
            case "setValue", [element, value, *_]:
                self._at(element, selector).fill(value, timeout=WAIT_MS)
            case "selectDropdown", [element, value]:
                self._at(element, selector).select_option(label=value, timeout=WAIT_MS)
            case (("check" | "uncheck"), [element]):
                self._at(element, selector).set_checked(name == "check", timeout=WAIT_MS)
            case _:
                raise AssertionError(name)

    def _at(self, element: str, selector: str) -> Locator:
        """Return the element of an id, or of the selector beside it where the id is stale."""
        stamped = self.page.locator(f'[data-llm-id="{element}"]')
        return stamped if stamped.count() == 1 else self.page.locator(selector)


def parse_action(action: str) -> tuple[str, list[str]]:
    """Read an action string: a name, and arguments in quotes of any kind or bare; quotes are sliced off."""
    match = _CALL.fullmatch(action)
    assert match is not None, action
    inside = match[2].strip()
    read = [_one(one) for one in _ARGUMENT.finditer(inside)] if inside else []
    return match[1], read


def _one(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _program() -> str:
    return f"(0, eval)({_quoted(program())})"


def _quoted(text: str) -> str:
    return httpx2.Request("POST", "http://x/", json=text).content.decode()


@contextmanager
def reference_client(base: str, key: str, **facts: Any) -> Generator[ReferenceClient]:
    """Open a browser of one tab, and a client of Weft for it."""
    headers: Mapping[str, str] = {"Authorization": f"Bearer {key}"}
    with (
        sync_playwright() as playwright,
        httpx2.Client(base_url=base, headers=headers, trust_env=False, timeout=60.0) as http,
    ):
        browser = playwright.chromium.launch(executable_path=chromium.find(Settings()), args=["--no-sandbox"])
        try:
            yield ReferenceClient(browser.new_page(), http, **facts)
        finally:
            browser.close()
