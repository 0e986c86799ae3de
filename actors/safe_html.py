"""Writes Markdown and document trees as HTML that is safe to show: one sanitiser for all that is rendered.

What a model or a page has written passes a parser that knows no HTML, and then the allow-list (003 "Safe rendering").
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from protocol.render import Doc, to_markdown

TAGS: Final = frozenset(
    {"p", "br", "strong", "em", "code", "pre", "blockquote", "hr", "ul", "ol", "li", "a"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"}
)
"""What is left of the tags; of their attributes a link's address alone (003 "Safe rendering")."""

SCHEMES: Final = frozenset({"http", "https", "mailto"})

MAX_MARKDOWN_CHARS: Final = 1_000_000
"""Longer texts are cut (003 "Robustness": enforce caps)."""

PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy of a page of ours with a text: it loads nothing, and runs nothing."""

_STYLE: Final = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
    "h1,h2,h3{line-height:1.25}pre,code{font-family:ui-monospace,monospace;font-size:.9em}"
    "pre{overflow-x:auto;white-space:pre-wrap;background:#f5f5f5;padding:.75rem}"
    "blockquote{margin-inline:0;padding-inline-start:1rem;border-inline-start:3px solid #ccc;color:#444}"
    "table{border-collapse:collapse;width:100%}th,td{border:1px solid #ccc;padding:.3rem .5rem;text-align:start}"
    "td,th,p,li{overflow-wrap:anywhere}@media print{body{margin:0;max-width:none}}"
)


def safe_html(markdown: str) -> str:
    """Return a Markdown text as a fragment of HTML; HTML in it stays text, pictures become the words beside them."""
    return sanitized(_parser().render(markdown[:MAX_MARKDOWN_CHARS]))


def tree_html(doc: Doc) -> str:
    """Return a document tree as a fragment of HTML, by the same way as Markdown."""
    return safe_html(to_markdown(doc))


def html_page(title: str, markdown: str) -> str:
    """Return a Markdown text as a page of its own, which loads nothing and runs nothing."""
    name = html.escape(" ".join(title.split()))
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">'
        '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">'
        f'<title>{name}</title><style>{_STYLE}</style></head>\n<body dir="auto">\n{safe_html(markdown)}</body></html>\n'
    )


def sanitized(fragment: str) -> str:
    """Return what the allow-list leaves of a fragment of HTML; links open elsewhere, and tell nobody where from."""
    return nh3.clean(
        fragment,
        tags=set(TAGS),
        clean_content_tags={"script", "style"},
        attributes={"a": {"href"}},
        url_schemes=set(SCHEMES),
        url_relative="deny",
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("image", _alternative)
    return parser


def _alternative(_: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """Return a picture as the words that stand for it."""
    del options, env
    return escapeHtml(tokens[index].content)
