"""Reads what shops write beside labels and on buttons: article numbers, codes, makers, and whether a thing is sold."""

# ruff: noqa: RUF001 - words of other alphabets look like Latin ones

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from turbohtml import Element

from actors.extraction.evidence.claim import PageField
from actors.extraction.evidence.text_runs import ShortText, ShortTexts, ancestry, code_names
from actors.extraction.parse.tree import Page

MAX_LABEL_CHARS = 34
MAX_VALUE_CHARS = 60
MAX_CALLED = 200

_COLON = re.compile(r"[:\uff1a#=]|\s[\u2013-](?:\s|$)")
_LABEL_TRIMMED = " .:#\u2013-\u200e\u200f"
_ONLY_SEPARATOR = re.compile(r"[\s:\uff1a#.=|\u2013-]{0,5}")
_CODE = re.compile(r"#?(?=[^\d]{0,20}\d)[A-Za-z0-9][\w./+-]{2,30}(?: [\w./-]{1,12}){0,2}")
_MAKER = re.compile(r"[^\W\d_&][^:;!?|{}<>=]{0,44}|\d{1,4}[^\W\d_ ][^:;!?|{}<>=]{0,40}")
_CALLED_SOMETHING = (
    "[itemprop], [class*=brand], [class*=Brand], [class*=manufacturer], [class*=sku], [class*=Sku], [id*=sku],"
    " [class*=productid], [class*=product-id], [class*=product-code], [class*=prd-code], [class*=item-n],"
    " [class*=refn], [id*=brand], [id*=byline]"
)
_CALLED: tuple[tuple[PageField, re.Pattern[str]], ...] = (
    (
        PageField.SKU,
        re.compile(r"\bsku\b|(?:product|item|article|prd|prod)[-_]?(?:id|code|number|num|no|nr)\b|refnumber|\bartnr"),
    ),
    (PageField.GTIN, re.compile(r"\b(?:gtin\d{0,2}|ean|upc|isbn)\b")),
    (PageField.MPN, re.compile(r"\b(?:mpn|model|part-?number)\b")),
    (
        PageField.BRAND,
        re.compile(
            r"(?:^|[\s_-])brand(?:[-_]?(?:name|link|title|label))?(?:$|[\s_])|manufacturer|product-?brand|byline"
        ),
    ),
)

MAX_BUTTONS = 400
MAX_BUY_BUTTONS = 60

_BUTTONS = (
    "button, input[type=submit], input[type=button], input[type=image],"
    " a[class*=cart i], a[class*=buy i], a[id*=cart i]"
)
_BUTTON_TRIMMED = " .,!:;-\u2013\u2014*\u2022\u2713\u2714>+\u00bb\u203a()\u200e"

_OPENING_CHARS = 80
"""How much of a longer text is looked at."""

_CLEARLY_OUT = (
    "out of stock", "sold out", "currently unavailable", "ausverkauft", "rupture de stock", "esaurito", "agotado",
    "non disponibile", "nicht verfügbar",
)  # fmt: skip
_CLEARLY_IN = (
    "in stock", "auf lager", "en stock", "sofort lieferbar", "item in stock", "disponibilità immediata", "op voorraad",
)  # fmt: skip

_GTIN_LENGTHS = frozenset({8, 12, 13, 14})
"""Digits of a GTIN (GS1 General Specifications, section 2)."""


def labelled_values(texts: ShortTexts) -> Iterator[tuple[PageField, str, ShortText]]:
    """Return each value that stands after a label, in the same text or in the next one."""
    runs = texts.runs
    for number, run in enumerate(runs):
        label, value, certain = _split_label(run.text)
        field = _LABELS.get(label)
        if field is None or (field is PageField.BRAND and not certain):
            continue
        if not value:
            after = (later.text for later in runs[number + 1 : number + 4])
            value = next((text for text in after if not _ONLY_SEPARATOR.fullmatch(text)), "")
        if value := _checked_value(field, value):
            yield field, value, run


def named_values(page: Page) -> Iterator[tuple[PageField, str, Element]]:
    """Return each value that stands in an element which is called so in the page's code."""
    for element in page.root.select(_CALLED_SOMETHING)[:MAX_CALLED]:
        text = element.text
        if len(text) > 4 * MAX_VALUE_CHARS:
            continue
        name = code_names(element)
        for field, pattern in _CALLED:
            if pattern.search(name) and (value := _checked_value(field, " ".join(text.split()))):
                yield field, value, element


def gtin(text: str) -> str:
    """Return a number whose check digit is right, "" for any other."""
    digits = re.sub(r"[\s-]", "", text[:40])
    if len(digits) not in _GTIN_LENGTHS or not digits.isascii() or not digits.isdigit() or len(set(digits)) == 1:
        return ""
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighted % 10 == 0 else ""


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
        text = run.text.lower().strip(_BUTTON_TRIMMED)
        if availability := _meaning(text):
            return availability
    return ""


def _split_label(text: str) -> tuple[str, str, bool]:
    """Cut a text into a label, what follows it, and whether a colon or nothing does: "Ref. 12", "Ref.: 12", "Ref."."""
    head = text[:MAX_LABEL_CHARS].lower()
    if colon := _COLON.search(head):
        return head[: colon.start()].strip(_LABEL_TRIMMED), text[colon.end() :].strip(), True
    if head.strip(_LABEL_TRIMMED) in _LABELS:
        return head.strip(_LABEL_TRIMMED), "", True
    label, _, value = text.rpartition(" ")
    return (label.lower().strip(_LABEL_TRIMMED), value, False) if len(label) <= MAX_LABEL_CHARS else ("", "", False)


def _checked_value(field: PageField, value: str) -> str:
    """Return a value that may be one of its field, "" for another."""
    value = value.strip(" :\uff1a#-()[]\u200e\u200f").strip()
    if field is PageField.BRAND:
        return value if _MAKER.fullmatch(value) and value.count(" ") <= 5 else ""  # noqa: PLR2004 - names are shorter
    code = _CODE.fullmatch(value) if len(value) <= MAX_VALUE_CHARS else None
    if code is None and (first := _CODE.match(value)) and field is not PageField.MPN and " " not in first.group():
        code = first if len(value) <= 2 * len(first.group()) else None
    return code.group().lstrip("#") if code else ""


def _meaning(text: str) -> str:
    if text in _OUT_OF_STOCK:
        return "OutOfStock"
    if text in _PRE_ORDER:
        return "PreOrder"
    if text in _IN_STOCK:
        return "InStock"
    opening = text[:_OPENING_CHARS]
    if any(phrase in opening for phrase in _CLEARLY_OUT):
        return "OutOfStock"
    if any(opening.startswith(phrase) for phrase in _CLEARLY_IN):
        return "InStock"
    return ""


def _buys(button: Element) -> bool:
    written = (button.attr("value") if button.tag == "input" else button.text[:200]) or button.attr("aria-label") or ""
    if " ".join(written.split()).lower().strip(_BUTTON_TRIMMED) in _BUY_TEXTS:
        return True
    called = f"{code_names(button)} {(button.attr('name') or '').lower()}"
    return bool(_CALLED_BUY.search(called)) or any(
        _CALLED_BUY.search(code_names(holder)) for holder in ancestry(button, 3)[1:]
    )


def _listed(words: str) -> frozenset[str]:
    """Return the words of a list with commas between them."""
    return frozenset(word for part in words.split(",") if (word := " ".join(part.split())))


_SKU = """
sku, sku-nr, sku nr, sku #, product code, product id, product no, product number, product ref, product reference,
item code, item no, item number, item id, item #, item, article number, article no, article code, article, art. nr,
art.-nr, art.nr, art nr, art, artikelnummer, artikel-nr, artikelnr, artikel-nummer, artikel nr, artikel,
bestellnummer, bestell-nr, produktnummer, produkt-nr, référence, référence produit, réf, ref, reference,
reference no, referencia, referência, código, código del producto, código do produto, cód, cod, codice,
codice prodotto, codice articolo, kód, kód produktu, kód tovaru, katalogové číslo, kod, kod produktu, nr ref,
numer referencyjny, nr katalogowy, indeks, šifra, šifra izdelka, šifra artikla, koda, produkta kods, preces kods,
prekės kodas, tootekood, tuotenumero, tuotekoodi, varenummer, varenr, artikkelnummer, artnr, cikkszám, cod produs,
web code, asin, catalog number, catalogue number, stock code, stock number, style, style no, style code,
style number, part no, numéro de l'objet ebay, numéro d'article, numero oggetto ebay, ebay item number,
ebay-artikelnummer, item model, anzeige, ad id, listing id, артикул, код товара, код, κωδικός, κωδικός προϊόντος,
ürün kodu, stok kodu, 商品番号, 品番, 商品コード, 货号, 商品编号, 商品編號, 貨號, 商品番號, 제품번호, 상품번호
"""

_MPN = """
mpn, manufacturer part number, manufacturer part number (mpn), manufacturer number, manufacturer code, part number,
model number, model no, model, item model number, model name / number, modell, modellnummer, modell-nr, modelnummer,
modelo, número de modelo, numero modello, numero modello articolo, modello, modèle, numéro du modèle,
numéro de modèle, référence fabricant, hersteller-nr, herstellernummer, herstellerartikelnummer,
hersteller artikelnummer, codice produttore, código do fabricante, ražotāja kods, gamintojo kodas, produktové číslo,
kód výrobce, kód výrobcu, kod producenta, valmistajan tuotekoodi, tillverkarens artikelnummer,
producentens varenummer, модель, код производителя, 型番, 型号, 型號, 모델명
"""

_GTIN = """
ean, ean code, ean-code, ean-nummer, ean-nr, ean nummer, kod ean, código ean, codice ean, upc, upc code, gtin,
gtin-13, gtin13, gtin/ean, ean/gtin, isbn, isbn-13, isbn13, isbn-10, barcode, barkod, bar code, штрихкод, jan,
janコード
"""

_BRAND = """
brand, brand name, brands, marke, marque, marca, marka, značka, blagovna znamka, zīmols, prekės ženklas, kaubamärk,
merkki, tuotemerkki, märke, varumärke, merke, mærke, merk, brend, márka, бренд, торговая марка, 品牌, ブランド,
브랜드, marca del producto, manufacturer, hersteller, fabricant, fabricante, produttore, producent, výrobca, výrobce,
proizvajalec, proizvođač, ražotājs, gamintojas, tootja, valmistaja, tillverkare, producer, fabrikant, gyártó,
производитель, メーカー, vendor, marque du produit, κατασκευαστής, μάρκα
"""

_LABELS: dict[str, PageField] = {
    word: field
    for field, words in (
        (PageField.BRAND, _BRAND),
        (PageField.SKU, _SKU),
        (PageField.MPN, _MPN),
        (PageField.GTIN, _GTIN),
    )
    for word in _listed(words)
}
"""What stands before a number or a maker, in lower case and without a colon."""

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

_BUY_TEXTS = _listed(_BUY)
"""What is written on a button that puts a thing into the cart."""

_CALLED_BUY = re.compile(
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

_OUT_OF_STOCK = _listed(_OUT)
_IN_STOCK = _listed(_IN)
_PRE_ORDER = _listed(_LATER)
