"""A shop of the site: a login, a search, a basket and an order; what changes something is a POST, and counted."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from tests.site.answers import Answer, Ask, Reply, text

COOKIE: Final = "shopper"
USER, PASSWORD = "ann", "tulip-77"
LAMPS: Final = {"blue": ("Blue lamp", "24.00"), "red": ("Red lamp", "19.50"), "tall": ("Tall lamp", "80.00")}
ORDERED: Final = "Thank you, your order is on its way"

_PAGE = """<!doctype html><html lang=en><title>{title} - Lamp shop</title><style>
body{{font:16px sans-serif;margin:1em}} table{{border-spacing:1em .5em}} label{{display:block;margin:.4em 0}}
</style><header><a href=/shop>Lamp shop</a> <a href=/shop/cart>Cart</a></header>
<main><h1>{title}</h1>{body}</main></html>"""
_LOGIN = """<form method=post action=/shop/login>{error}<label>User name <input name=user></label>
<label>Password <input type=password name=password></label><button>Log in</button></form>"""
_SEARCH = """<form action=/shop/search><label>Search <input name=q type=search></label><button>Find</button></form>"""
_ROW = """<tr><td>{name}</td><td>{price} EUR</td><td><form method=post action=/shop/add>
<input type=hidden name=item value={item}><button>Add to cart</button></form></td></tr>"""
_CART = """<table><tr><td>{name}</td><td>{price} EUR</td></tr></table>
<form method=post action=/shop/quantity><label>Quantity <input name=count value="{count}"></label>
<button>Update</button></form><form action=/shop/checkout><button>Check out</button></form>"""
_CHECKOUT = """<form method=post action=/shop/order><label>Full name <input name=name></label>
<label>Delivery <select name=delivery><option>Standard</option><option>Express</option></select></label>
<label><input type=checkbox name=terms> I accept the terms</label><button>Place order</button></form>"""


def answer_shop(ask: Ask) -> Answer:
    """Answer /shop and what is below it; who is not logged in gets the login."""
    form = dict(parse_qsl(ask.body.decode()))
    if ask.rest == "login" and ask.method == "POST":
        good = (form.get("user"), form.get("password")) == (USER, PASSWORD)
        return _to("/shop", f"{COOKIE}={USER}.-.1; Path=/") if good else _login("<p role=alert>Wrong password.</p>")
    user, item, count = (*_basket(ask), "", "", "")[:3]
    if not user:
        return _login("")
    match (ask.method, ask.rest):
        case ("POST", "add"):
            return _to("/shop/added", f"{COOKIE}={user}.{form['item']}.1; Path=/")
        case ("POST", "quantity"):
            return _to("/shop/cart?changed=1", f"{COOKIE}={user}.{item}.{int(form['count'])}; Path=/")
        case ("POST", "order"):
            whole = bool(form.get("name")) and "terms" in form
            words = f"{ORDERED}: {count} x {LAMPS[item][0]}, {form.get('delivery')}, for {form.get('name')}."
            shown = f"<p role=status>{escape(words)}</p>" if whole else "<p role=alert>Something is missing.</p>"
            return _page("Order", shown)
        case _:
            return _shown(ask, item, count)


def shop_changes(asked: list[Ask]) -> Counter[str]:
    """Count what was changed, by what was asked."""
    return Counter(f"{one.path} {one.body.decode()}" for one in asked if one.method == "POST")


def _shown(ask: Ask, item: str, count: str) -> Answer:
    match ask.rest:
        case "search":
            words = ask.query.get("q", "").lower()
            lamps = [key for key, (name, _) in LAMPS.items() if words in name.lower()]
            rows = (_ROW.format(name=LAMPS[key][0], price=LAMPS[key][1], item=key) for key in lamps)
            return _page("Results", f"<table>{''.join(rows)}</table>")
        case "added":
            return _page("Added", f"<p role=status>{LAMPS[item][0]} is in your cart.</p>")
        case "cart" if item in LAMPS:
            note = f"<p role=status>The quantity is {count} now.</p>" if "changed" in ask.query else ""
            return _page("Cart", note + _CART.format(name=LAMPS[item][0], price=LAMPS[item][1], count=count))
        case "checkout":
            return _page("Check out", _CHECKOUT)
        case "":
            return _page("Welcome", f"<p>Hello, {USER}.</p>{_SEARCH}")
        case _:
            return _page("Cart", "<p>Your cart is empty.</p>")


def _basket(ask: Ask) -> tuple[str, ...]:
    pairs = (pair.strip().partition("=") for pair in ask.headers.get("cookie", "").split(";"))
    value = {name: value for name, _, value in pairs}.get(COOKIE, "")
    return tuple(value.split(".")) if value else ()


def _login(error: str) -> Answer:
    return _page("Log in", _LOGIN.format(error=error))


def _page(title: str, body: str) -> Answer:
    return text(_PAGE.format(title=title, body=body), headers=(("Cache-Control", "no-store"),))


def _to(where: str, cookie: str) -> Reply:
    return Reply(303, headers=(("Location", where), ("Set-Cookie", cookie), ("Cache-Control", "no-store")))
