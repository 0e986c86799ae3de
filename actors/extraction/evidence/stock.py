"""Tells whether a thing can be bought: by the buttons that put it into the cart, and by what stands near them."""

# ruff: noqa: RUF001 - words of other alphabets look like Latin ones

from __future__ import annotations

import re
from collections.abc import Sequence

from turbohtml import Element

from actors.extraction.evidence.text_runs import ShortText, ancestry, code_names
from actors.extraction.parse.tree import Page

MAX_BUTTONS = 400
MAX_BUY_BUTTONS = 60

_BUTTONS = (
    "button, input[type=submit], input[type=button], input[type=image],"
    " a[class*=cart i], a[class*=buy i], a[id*=cart i]"
)
_TRIMMED = " .,!:;-\u2013\u2014*\u2022\u2713\u2714>+\u00bb\u203a()\u200e"

_OPENING_CHARS = 80
"""How much of a longer text is looked at."""

_CLEARLY_OUT = (
    "out of stock", "sold out", "currently unavailable", "ausverkauft", "rupture de stock", "esaurito", "agotado",
    "non disponibile", "nicht verfügbar",
)  # fmt: skip
_CLEARLY_IN = (
    "in stock", "auf lager", "en stock", "sofort lieferbar", "item in stock", "disponibilità immediata", "op voorraad",
)  # fmt: skip


def buy_buttons(page: Page) -> list[Element]:
    """Return the buttons that put something into the cart."""
    return [button for button in page.root.select(_BUTTONS)[:MAX_BUTTONS] if _buys(button)][:MAX_BUY_BUTTONS]


def usable(button: Element) -> bool:
    """Return whether a button can be pressed."""
    attributes = button.attrs
    if "disabled" in attributes or attributes.get("aria-disabled") == "true":
        return False
    return "disabled" not in code_names(button).split()


def stated_availability(runs: Sequence[ShortText]) -> str:
    """Return what the first text says that speaks of stock, as schema.org names it; "" when none does."""
    for run in runs:
        text = run.text.lower().strip(_TRIMMED)
        if found := _meaning(text):
            return found
    return ""


def _meaning(text: str) -> str:
    if text in OUT_OF_STOCK:
        return "OutOfStock"
    if text in PRE_ORDER:
        return "PreOrder"
    if text in IN_STOCK:
        return "InStock"
    opening = text[:_OPENING_CHARS]
    if any(phrase in opening for phrase in _CLEARLY_OUT):
        return "OutOfStock"
    if any(opening.startswith(phrase) for phrase in _CLEARLY_IN):
        return "InStock"
    return ""


def _buys(button: Element) -> bool:
    written = (button.attr("value") if button.tag == "input" else button.text[:200]) or button.attr("aria-label") or ""
    if " ".join(written.split()).lower().strip(_TRIMMED) in BUY:
        return True
    called = f"{code_names(button)} {(button.attr('name') or '').lower()}"
    return bool(CALLED_BUY.search(called)) or any(
        CALLED_BUY.search(code_names(holder)) for holder in ancestry(button, 3)[1:]
    )


def listed(words: str) -> frozenset[str]:
    """Return the words of a list with commas between them."""
    return frozenset(word for part in words.split(",") if (word := " ".join(part.split())))


_BUY = """
add to cart, add to your basket, add to your cart, add to your bag, add to basket, add to bag, add to trolley,
add to shopping cart, add to my cart, buy now, buy it now, purchase, order now, place bid, bid now, in den warenkorb,
in den einkaufswagen, jetzt kaufen, kaufen, bestellen, zum warenkorb hinzufügen, in winkelwagen, in winkelmand,
in mijn winkelwagen, toevoegen aan winkelwagen, bestel nu, ajouter au panier, acheter, j'achète, acheter maintenant,
añadir al carrito, añadir a la cesta, agregar al carro, agregar al carrito, añadir a la bolsa, comprar,
comprar ahora, compra ahora, lo quiero, adicionar ao carrinho, adicionar à sacola, comprar agora,
aggiungi al carrello, acquista, acquista ora, compra, compralo subito, do koszyka, dodaj do koszyka, kup teraz,
do košíku, do košíka, přidat do košíku, koupit, kúpiť, vložit do košíku, vložiť do košíka, v košarico,
dodaj v košarico, u košaricu, dodaj u košaricu, dodaj u korpu, ielikt grozā, pievienot grozam, pirkt, į krepšelį,
lisa korvi, osta, lisää ostoskoriin, lisää koriin, ostoskoriin, lägg i varukorg, lägg i varukorgen, köp,
legg i handlekurv, legg i handlekurven, kjøp, læg i kurv, læg i kurven, tilføj til kurv, køb, kosárba,
kosárba teszem, adaugă în coș, adauga in cos, cumpără, sepete ekle, satın al, в корзину, купить, добавить в корзину,
у кошик, до кошика, купити, добави в количката, προσθήκη στο καλάθι, 加入購物車, 加入购物车, 立即購買, 立即购买,
放入購物車, 我要買, カートに入れる, 今すぐ買う, 購入する, 買い物かごに入れる, 장바구니, 장바구니 담기, 구매하기,
바로구매, buy, shop now, get it now, reserve, 立即訂購, 馬上買
"""

BUY = listed(_BUY)
"""What is written on a button that puts a thing into the cart."""

CALLED_BUY = re.compile(
    r"add.{0,2}(?:to|2).{0,2}(?:cart|basket|bag|trolley)|addcart|buy-?now|buybutton|btn-?buy|addtobag"
)
"""How such a button is called in the page's code."""

_OUT = """
out of stock, sold out, currently unavailable, temporarily unavailable, no longer available, not available,
unavailable, item unavailable, out-of-stock, notify me when available, email me when available, back in stock soon,
ausverkauft, nicht verfügbar, nicht mehr verfügbar, nicht lieferbar, derzeit nicht verfügbar, nicht auf lager,
vergriffen, épuisé, rupture de stock, en rupture de stock, indisponible, non disponible, actuellement indisponible,
agotado, sin stock, no disponible, sin existencias, esaurito, attualmente non disponibile, esgotado, indisponível,
produto indisponível, uitverkocht, niet op voorraad, niet leverbaar, vypredané, vyprodáno, nedostupné, není skladem,
nie je na sklade, niedostępny, produkt niedostępny, brak w magazynie, wyprzedany, razprodano, ni na zalogi,
rasprodano, nav pieejams, izpārdots, nav noliktavā, loppuunmyyty, loppu, ei varastossa, slutsåld, slut i lager,
ej i lager, utsolgt, ikke på lager, udsolgt, elfogyott, nincs raktáron, stoc epuizat, indisponibil, tükendi,
stokta yok, нет в наличии, нет на складе, распродано, продано, немає в наявності, εξαντλημένο, 缺貨, 缺货, 已售完,
售完, 售罄, 補貨中, 品切れ, 在庫切れ, 在庫なし, 売り切れ, 품절, 일시품절, 재고없음
"""

_IN = """
in stock, available, item in stock, ready to ship, ships today, only, left in stock, auf lager, lieferbar,
sofort lieferbar, verfügbar, sofort verfügbar, vorrätig, en stock, disponible, in magazzino, disponibile,
disponibilità immediata, em estoque, disponível, em stock, op voorraad, leverbaar, skladom, na sklade, skladem,
na skladě, dostępny, w magazynie, na stanie, na zalogi, na skladištu, dostupno, pieejams, ir noliktavā, noliktavā,
yra sandėlyje, laos, varastossa, heti saatavilla, i lager, på lager, raktáron, în stoc, in stoc, stokta, в наличии,
есть в наличии, на складе, в наявності, διαθέσιμο, 有貨, 现货, 現貨, 有库存, 在庫あり, 재고있음
"""

_LATER = """
pre-order, preorder, pre order, pre-order now, vorbestellen, jetzt vorbestellen, précommander, précommande, reservar,
preventa, pré-venda, pre-venda, prenota, preordina, předobjednat, predobjednať, przedsprzedaż, ennakkotilaa,
förbeställ, förhandsboka, forhåndsbestill, forudbestil, предзаказ, 預購, 预购, 予約, 예약구매
"""

OUT_OF_STOCK = listed(_OUT)
IN_STOCK = listed(_IN)
PRE_ORDER = listed(_LATER)
