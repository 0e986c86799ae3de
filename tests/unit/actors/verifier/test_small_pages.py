"""A page of a line or two is a page, unless it says what stands in the place of one."""

from __future__ import annotations

import pytest
from msgspec import structs

from actors.extraction.page import extract
from actors.verifier.rules import judge
from protocol.faults import Code
from protocol.tiers import RenderTier
from tests.unit.actors.page_data import claim


def code_of(body: str, path: str) -> Code | None:
    """Return what is said of a page that a browser has shown."""
    found = extract(f"<!doctype html>{body}".encode(), "text/html", f"https://site.example{path}")
    opening = structs.replace(claim().opening, content=found.summary)
    seen = claim(tier=RenderTier.PLAYWRIGHT, evidence=found.evidence, opening=opening)
    return judge(structs.replace(seen, url=found.summary.url, final_url=found.summary.url)).code


FILTERS = """<title>New filters of threads</title>
<a href=n><img src=n.png alt=next></a> Next: <a href=n>Better knots</a>
Up: <a href=u>Features introduced in version 5</a> Previous: <a href=p>New weaves and colours</a>
<h2>New filters of threads</h2>
<ul><li>Normalised frequency of a thread in a set (see smooth warp)
<li>Automated sorting of threads by their weight and colour, told of in bins and in the chapter on yarns and spindles
</ul>"""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/", "<p>hi</p>"),
        ("/", "<h1>Hello</h1>"),
        ("/", "<title>Test</title><h1>Test</h1><p>Test</p>"),
        ("/", "<title>Demo</title><p>Counter: <span id=c>3</span><button>+1</button>"),
        ("/clock", "<title>Clock</title><div id=t>12:04:33</div>"),
        ("/order/77", "<title>Order 77</title><main><h1>Order 77</h1><p>Status: shipped</p></main>"),
        ("/menu", "<h1>Menu</h1><table><tr><td>Soup<td>4.50<tr><td>Bread<td>1.20</table>"),
        ("/tasks", "<title>Tasks</title><h1>Tasks</h1><p>No tasks yet.</p><button>New task</button>"),
        ("/thanks", "<title>Thank you</title><h1>Thank you!</h1><p>Your order 1234 is on its way.</p>"),
        (
            "/",
            "<h1>Reserved</h1><p>This domain is for examples. Use it without asking permission.</p>",
        ),
        ("/manual/filters.html", FILTERS),
    ],
)
def test_what_is_short_is_a_page(path: str, body: str) -> None:
    assert code_of(body, path) is None


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/looms", "<h1>Not found</h1>", Code.HTTP_NOT_FOUND),
        ("/looms", "<h1>502 Bad Gateway</h1>", Code.HTTP_SERVER_ERROR),
        ("/looms", "<h1>The looms of Hallam</h1><p>Subscribe to continue reading.</p>", Code.CONTENT_PAYWALLED),
        ("/looms", "<h1>The looms</h1><p>Are you over 18?</p><button>Yes</button>", Code.CONTENT_AGE_RESTRICTED),
    ],
)
def test_what_is_short_and_says_so_is_none(path: str, body: str, code: Code) -> None:
    assert code_of(body, path) is code
