"""A page as the semantic tree of 001 has it (V3): what can be acted on, with few words, and the text beside it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, field

from protocol.browsers.operations import MAX_TREE_TOKENS, SessionId, TabId

MAX_NAME_CHARS: Final = 50
"""What is kept of a name (001 §6.4)."""

CHARS_PER_TOKEN: Final = 4

Pixels = int | float
"""CSS pixels of the window; whole ones as the page writes them."""

LEGEND: Final = """\
i: element id, for actions such as click(i) and setValue(i, "text"). r: role (btn button, inp text field, link, chk \
checkbox, radio, sel list to choose from, opt option, menu, tab, item, tree, switch, slider, h heading, img picture or \
shape, text words that are no control). n: name. v: current value. s: states. xy: centre, in CSS pixels of the window. \
box: x, y, width, height. scr: scrollable, depth and whether more follows (h). occ: covered by something else, do not \
click it, close what covers it first. f: frame. t: words beside it that tell it from others. sh: shape. c: colour."""
"""What a model is told of the keys (001 §6.2)."""


class ElementMarks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an element is found again by in another load of its page, beside its role and name: all of it is the web's.

    `test` is what its author called it for tests, `beside` the words next to it, `near` those around it, `heading` the
    heading that it stands under. `secret` is said of a field that holds something secret, or is made for it.
    """

    test: str = ""
    id: str = ""
    name: str = ""
    type: str = ""
    placeholder: str = ""
    href: str = ""
    beside: str = ""
    near: str = ""
    heading: str = ""
    secret: str = ""


class NodeScroll(Struct, frozen=True, kw_only=True):
    """How far a scrollable container is scrolled, and whether more follows."""

    depth: str
    more: bool = field(name="h", default=False)


NodeId = Annotated[str, Meta(min_length=1)]


class SemanticNode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One node (001 §6.4): short keys on the wire, whole names here.

    `id` is a number in the main frame, and `f<frame>_<number>` in others; it lasts while the page draws the element
    anew, and no other element gets it. `context`, `shape`, `colour` and `selector` are additions: the words beside it,
    `circle` and the like of a drawing, its colour where that was asked for, and a CSS selector beside the id.
    """

    id: NodeId = field(name="i")
    role: str = field(name="r")
    name: str = field(name="n", default="")
    value: str | None = field(name="v", default=None)
    state: str | None = field(name="s", default=None)
    """States, separated by commas: disabled, checked, selected, expanded, focused, required, invalid, …"""
    centre: tuple[Pixels, Pixels] | None = field(name="xy", default=None)
    box: tuple[Pixels, Pixels, Pixels, Pixels] | None = None
    scroll: NodeScroll | None = field(name="scr", default=None)
    occluded: bool = field(name="occ", default=False)
    frame: int = field(name="f", default=0)
    context: str = field(name="t", default="")
    shape: str = field(name="sh", default="")
    colour: str = field(name="c", default="")
    selector: str = field(name="sel", default="")
    marks: ElementMarks | None = field(name="m", default=None)

    @property
    def states(self) -> frozenset[str]:
        """The states as a set."""
        return frozenset(one.strip() for one in (self.state or "").split(",") if one.strip())


ROLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "button": "btn", "link": "link", "a": "link", "textbox": "inp", "searchbox": "inp", "input": "inp",
        "textarea": "inp", "checkbox": "chk", "radio": "radio", "select": "sel", "combobox": "sel", "listbox": "sel",
        "menuitem": "menu", "tab": "tab", "listitem": "item", "option": "opt", "treeitem": "tree", "switch": "switch",
        "slider": "slider", "heading": "h",
    }
)  # fmt: skip
"""The short roles of 001; any other role is its first four letters, which makes `text` and `img` of ours."""


class ScrollContainer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that scrolls, and may show further rows then."""

    id: str
    depth: str
    has_more: bool = False


class ReceivedInput(Struct, frozen=True, kw_only=True):
    """An event of a click or a key that was no script's, and the nodes that received it, the innermost first.

    `at` is in ms since the epoch by the clock of the browser; `kind` is the type of the event in the DOM. `answered`:
    within a second the page has changed the control that was reached, or something in it.
    """

    at: float
    kind: str
    ids: tuple[str, ...] = ()
    answered: bool = False


class Viewport(Struct, frozen=True, kw_only=True):
    """The size of the window in CSS pixels."""

    width: float
    height: float


class PageTree(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A page as it stands: its nodes in the order in which they are shown, and what has happened on it lately.

    `hash` is the same as long as nothing to act on has changed (001: interactiveTreeHash); where it is the one that was
    asked for, `unchanged` is set and there are no nodes. `left_out` counts nodes that did not fit, `next` goes on with
    them. `elements` has the ids that the browser tools know nodes by. `dialog` is what the page asks in a dialog of the
    browser, which waits. `inputs` are the last clicks and keys, and what they really reached,
    `selection` the beginning of the words that are selected. `status` is the HTTP status that the document came with,
    where that is one of an error. `beside` are the nodes that HTML was asked for to find:
    they are not read with every look, so no look is compared by them.
    """

    url: str
    title: str = ""
    nodes: tuple[SemanticNode, ...] = ()
    viewport: Viewport | None = None
    scroll_position: str = ""
    scrollable_containers: tuple[ScrollContainer, ...] = ()
    recent_events: tuple[str, ...] = ()
    has_errors: bool = False
    has_success: bool = False
    inputs: tuple[ReceivedInput, ...] = ()
    selection: str = ""
    status: int = 0
    hash: str = ""
    unchanged: bool = False
    original_node_count: int = 0
    left_out: int = 0
    next: str = ""
    tokens: int = 0
    focused: str = ""
    elements: dict[str, str] = {}
    dialog: str = ""
    tabs: int = 1
    ready: bool = True
    beside: tuple[str, ...] = ()

    def node(self, node_id: str) -> SemanticNode | None:
        """Return the node of an id."""
        return next((one for one in self.nodes if one.id == node_id), None)


class AskTree(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """BROWSER_TREE: read the tree of a page; reading is all that this can do.

    `query` is what the nodes are ranked by where not all fit into `max_tokens` (None: all are wanted). `everywhere`
    takes in what lies beyond the window, `boxes` tells of every node how large it is, `colours` what colour it has, and
    the icons, `marks` what each control is found again by. `after` goes on where a tree said `next`. `known` is the
    hash of the tree that the reader has.
    """

    caller: str
    session: SessionId
    tab: TabId | None = None
    query: str = ""
    max_tokens: Annotated[int, Meta(ge=50, le=100_000)] | None = MAX_TREE_TOKENS
    everywhere: bool = False
    text: bool = True
    colours: bool = False
    boxes: bool = False
    selectors: bool = False
    marks: bool = False
    after: str = ""
    known: str = ""


class SemanticNodeV2(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A node with whole keys (001 §6.4, V2), a projection of the same snapshot."""

    id: NodeId
    role: str
    name: str = ""
    value: str | None = None
    state: str | None = None
    type: str | None = None
    placeholder: str | None = None
    href: str | None = None
    is_in_shadow: bool = False
    frame_id: int = 0
    bounds: dict[str, Any] | None = None
