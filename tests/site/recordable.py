"""Two applications that tell which of their controls were hit, and other versions of their pages.

A version is a script that changes the page when it is loaded; what a control tells stays with it, whatever becomes of its
names, its place and its mark-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.site.answers import Answer, Ask, text

SECRET: Final = "heddle-4417"

_PAGE = """<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>
body{{font:16px sans-serif;margin:1em}} li,p{{margin:.4em 0}} label{{display:block}}
.b{{display:inline-block;border:1px solid;padding:2px 6px}}
</style><body>{body}<p role=status></p><script>{script}</script></body></html>"""

_SHOP = """<header><a href=/flows/shop data-k=home>Loom shop</a> <a href=/flows/help data-k=help>Help</a></header>
<main><h1>Looms for everybody</h1>
<section class=find><h2>Find looms</h2><label for=q>Search</label><input id=q name=q data-k=q>
<button id=find data-k=find data-says="Three looms were found">Find</button></section>
<section class=list><h2>All looms</h2><ul>{items}</ul></section>
<section class=order><h2>Delivery</h2>
<p><label for=name>Full name</label><input id=name name=name data-k=name></p>
<p><label for=mail>Email address</label><input id=mail name=mail type=email data-k=mail></p>
<p><label for=way>Way of delivery</label><select id=way name=way data-k=way><option>Standard<option>Express<option>Pick up</select></p>
<p><label><input type=checkbox id=terms name=terms data-k=terms>I accept the terms</label></p>
<p><button id=order data-k=order data-says="Your order is on its way">Place order</button>
<button id=empty data-k=empty data-says="Your cart is empty">Empty cart</button></p></section></main>"""
_LOOMS = ("Floor loom", "Table loom", "Rigid heddle", "Inkle loom", "Band loom")
_ITEM = """<li>{name}, {price} EUR <button class=add data-testid="add-{at}" data-k="add:{name}"
data-says="In your cart: {name}">Add to cart</button> <a href="/flows/item/{at}" data-k="about:{name}">Details</a></li>"""

_CLUB = """<header><h1>Weavers' club</h1><nav><a href=/flows/courses data-k=go:courses data-says="Courses are open">Courses</a>
<a href=/flows/members data-k=go:members>Members</a> <a href=/flows/settings data-k=go:settings>Settings</a></nav></header>
<main><section class=join><h2>Sign up</h2>
<p><label for=user>User name</label><input id=user name=user data-k=user></p>
<p><label for=pass>Password</label><input id=pass name=pass type=password data-k=password></p>
<p><button id=join data-k=join data-says="Welcome to the club">Join the club</button>
<button id=leave data-k=leave data-says="You have left">Leave the club</button></p></section>
<section class=list><h2>Evening courses</h2><ul>{courses}</ul></section>
<section class=note><h2>A word to the teacher</h2><label for=note>Your note</label><textarea id=note name=note data-k=note></textarea>
<button id=send data-k=send data-says="Your note was sent">Send</button></section></main>"""
_COURSES = ("Twill", "Damask", "Tapestry", "Tablet weaving")
_COURSE = """<li><h3>{name}</h3><span>{at} evenings</span> <button class=book data-testid="book-{at}" data-k="book:{name}"
data-says="Booked: {name}">Book</button></li>"""

_TELLING = """
const hit = (what) => { const told = new XMLHttpRequest(); told.open('POST', '/flows/hit', false); told.send(what); };
const filled = (one) => one.matches('input:not([type=checkbox]), textarea, select');
const bind = (one, key, says) => one.addEventListener(filled(one) ? 'change' : 'click', (event) => {
  if (one.tagName === 'A') event.preventDefault();
  hit(key + (filled(one) && one.type !== 'password' ? '=' + one.value : ''));
  if (one.getAttribute('role') === 'checkbox') one.setAttribute('aria-checked', String(one.getAttribute('aria-checked') !== 'true'));
  if (says) document.querySelector('[role=status]').textContent = says;
});
const all = (selector) => [...document.querySelectorAll(selector)];
for (const one of all('[data-k]')) { one.key = one.dataset.k; one.says = one.dataset.says; bind(one, one.key, one.says); delete one.dataset.k; delete one.dataset.says; }
const make = (tag, words, key, more = {}) => { const one = Object.assign(document.createElement(tag), more); one.textContent = words; bind(one, key, ''); return one; };
const called = (from, to) => all('button, label, a').filter((one) => one.textContent.trim() === from).forEach((one) => {
  [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim()).forEach((node) => { node.data = to; });
});
const rename = (make) => { for (const one of all('[id]')) { const to = make(one.id); all(`label[for="${one.id}"]`).forEach((label) => { label.htmlFor = to; }); one.id = to; } };
const other = (one, tag, more) => { const made = Object.assign(document.createElement(tag), {}); for (const [name, value] of Object.entries(more)) made.setAttribute(name, value);
  made.textContent = one.textContent; bind(made, one.key, one.says); one.replaceWith(made); return made; };
const move = (part, to) => document.querySelector('main').insertBefore(part, to);
const part = (at) => all('main section')[at];
const twin = (one) => { const made = one.cloneNode(true); made.removeAttribute('id'); made.removeAttribute('data-testid'); bind(made, 'twin:' + one.key, ''); return made; };
"""

VERSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "renamed ids": "rename((id) => id + '-field-2');",
        "renamed ids and classes": "rename((id) => 'n' + id.length + id[0]); for (const one of all('[class]')) one.className = 'css-' + one.className.length;",
        "no names at all": "rename((id) => 'k' + id.charCodeAt(0) + 'zq'); for (const one of all('[name]')) one.removeAttribute('name'); for (const one of all('[data-testid]')) one.removeAttribute('data-testid');",
        "other test ids": "all('[data-testid]').forEach((one, at) => one.setAttribute('data-testid', 'cta-' + (90 - at)));",
        "blocks in another order": "for (const one of all('main section').reverse()) document.querySelector('main').append(one);",
        "a block moved": "document.querySelector('header').after(part(2)); ",
        "blocks in a sidebar": "const aside = document.createElement('aside'); aside.append(part(0)); document.body.prepend(aside);",
        "other words on buttons": "called('Add to cart', 'Add to basket'); called('Place order', 'Place the order now'); called('Book', 'Book a seat'); called('Send', 'Send it'); called('Join the club', 'Join our club');",
        "other words on fields": "called('Full name', 'Your full name'); called('Email address', 'E-mail'); called('User name', 'Member name'); called('Your note', 'Note'); called('Search', 'Search looms');",
        "capitals": "for (const one of all('button, label')) [...one.childNodes].filter((node) => node.nodeType === 3).forEach((node) => { node.data = node.data.toUpperCase(); });",
        "a second list": "const list = document.createElement('section'); list.innerHTML = '<h2>Seen lately</h2>'; for (const name of ['Spindle', 'Wool']) { const row = document.createElement('p'); row.append(name + ' '); for (const words of ['Add to cart', 'Book', 'Details']) row.append(make('button', words, 'twin:' + words)); list.append(row); } document.querySelector('main').prepend(list);",
        "a second form": "const form = document.createElement('section'); form.innerHTML = '<h2>Newsletter</h2><p>Get our letter every month</p>'; for (const words of ['Email address', 'Full name']) { const label = document.createElement('label'); label.textContent = words; const field = make('input', '', 'twin:' + words); label.append(field); form.append(label); } form.append(make('button', 'Subscribe', 'twin:subscribe')); document.querySelector('main').append(form);",
        "a list reversed": "for (const list of all('ul')) list.append(...[...list.children].reverse());",
        "a list turned": "for (const list of all('ul')) { list.append(list.firstElementChild); list.append(list.firstElementChild); }",
        "a list with more": "for (const list of all('ul')) { const row = document.createElement('li'); row.append('Card loom, 9 EUR ', make('button', list.querySelector('button').textContent, 'twin:new')); list.prepend(row); }",
        "plain elements with roles": "for (const one of all('button')) other(one, 'div', { role: 'button', tabindex: '0', class: 'b' });",
        "links for buttons": "for (const one of all('button')) other(one, 'a', { href: '#', id: one.id, class: 'b' });",
        "a table for a list": "for (const list of all('ul')) { const table = document.createElement('table'); for (const row of list.children) { const line = table.insertRow(); for (const node of [...row.childNodes]) line.insertCell().append(node); } list.replaceWith(table); }",
        "wrapped in frames of a library": "for (const one of all('button, input, select, textarea')) { const outer = document.createElement('div'), inner = document.createElement('span'); one.replaceWith(outer); outer.append(inner); inner.append(one); }",
        "labels as attributes": "for (const one of all('label[for]')) { document.getElementById(one.htmlFor).setAttribute('aria-label', one.textContent); one.remove(); }",
        "drawn late": "const main = document.querySelector('main'), rest = [...main.children]; main.replaceChildren('Loading'); setTimeout(() => { main.replaceChildren(...rest); rename((id) => id + '9x'); }, 900);",
    }
)  # fmt: skip
"""Each by what was done to the page; what names the second application has, the first one has not, and the other way."""

ALIKE: Final = "for (const one of all('button')) if (one.key === 'order' || one.key === 'join') one.after(twin(one));"
"""A version with twins that nothing tells from the controls that were recorded."""

GONE: Final = "for (const one of all('button')) if (one.key === 'order' || one.key === 'join') one.remove();"


def page(name: str, version: str = "") -> str:
    """Return a page of an application, in a version."""
    items = "".join(
        _ITEM.format(name=one, price=20 + 7 * at, at=at) for at, one in enumerate(_LOOMS, 1)
    )
    courses = "".join(_COURSE.format(name=one, at=at) for at, one in enumerate(_COURSES, 3))
    body = _SHOP.format(items=items) if name == "shop" else _CLUB.format(courses=courses)
    return _PAGE.format(title="Loom shop" if name == "shop" else "Club", body=body, script=f"{_TELLING}{version}")


class Recordable:
    """Answers for both applications in the version that is set, and keeps what their pages tell."""

    def __init__(self) -> None:
        self.version = ""
        self.hits = list[str]()

    def __call__(self, ask: Ask) -> Answer:
        """Answer /flows/shop, /flows/club and what they tell."""
        if ask.path == "/flows/hit":
            self.hits.append(ask.body.decode())
            return text("")
        return text(page(ask.path.rpartition("/")[2], self.version))
