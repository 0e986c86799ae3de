"""Reads what stands beside labels: article numbers, codes, makers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from actors.extraction.evidence.claim import Field
from actors.extraction.evidence.stock import listed
from actors.extraction.evidence.text_runs import ShortText, ShortTexts, code_names
from actors.extraction.parse.tree import Page

MAX_LABEL_CHARS = 34
MAX_VALUE_CHARS = 60
MAX_CALLED = 200

_COLON = re.compile(r"[:\uff1a#=]|\s[\u2013-](?:\s|$)")
_TRIMMED = " .:#\u2013-\u200e\u200f"
_ONLY_SEPARATOR = re.compile(r"[\s:\uff1a#.=|\u2013-]{0,5}")
_CODE = re.compile(r"#?(?=[^\d]{0,20}\d)[A-Za-z0-9][\w./+-]{2,30}(?: [\w./-]{1,12}){0,2}")
_MAKER = re.compile(r"[^\W\d_&][^:;!?|{}<>=]{0,44}|\d{1,4}[^\W\d_ ][^:;!?|{}<>=]{0,40}")
_CALLED_SOMETHING = (
    "[itemprop], [class*=brand], [class*=Brand], [class*=manufacturer], [class*=sku], [class*=Sku], [id*=sku],"
    " [class*=productid], [class*=product-id], [class*=product-code], [class*=prd-code], [class*=item-n],"
    " [class*=refn], [id*=brand], [id*=byline]"
)
_CALLED: tuple[tuple[Field, re.Pattern[str]], ...] = (
    (
        Field.SKU,
        re.compile(r"\bsku\b|(?:product|item|article|prd|prod)[-_]?(?:id|code|number|num|no|nr)\b|refnumber|\bartnr"),
    ),
    (Field.GTIN, re.compile(r"\b(?:gtin\d{0,2}|ean|upc|isbn)\b")),
    (Field.MPN, re.compile(r"\b(?:mpn|model|part-?number)\b")),
    (
        Field.BRAND,
        re.compile(
            r"(?:^|[\s_-])brand(?:[-_]?(?:name|link|title|label))?(?:$|[\s_])|manufacturer|product-?brand|byline"
        ),
    ),
)


def labelled_values(texts: ShortTexts) -> Iterator[tuple[Field, str, ShortText]]:
    """Return each value that stands after a label, in the same text or in the next one."""
    runs = texts.runs
    for number, run in enumerate(runs):
        label, value, certain = _split_label(run.text)
        field = LABELS.get(label)
        if field is None or (field is Field.BRAND and not certain):
            continue
        if not value:
            after = (later.text for later in runs[number + 1 : number + 4])
            value = next((text for text in after if not _ONLY_SEPARATOR.fullmatch(text)), "")
        if value := _checked_value(field, value):
            yield field, value, run


def _split_label(text: str) -> tuple[str, str, bool]:
    """Cut a text into a label, what follows it, and whether a colon or nothing does: "Ref. 12", "Ref.: 12", "Ref."."""
    head = text[:MAX_LABEL_CHARS].lower()
    if found := _COLON.search(head):
        return head[: found.start()].strip(_TRIMMED), text[found.end() :].strip(), True
    if head.strip(_TRIMMED) in LABELS:
        return head.strip(_TRIMMED), "", True
    label, _, value = text.rpartition(" ")
    return (label.lower().strip(_TRIMMED), value, False) if len(label) <= MAX_LABEL_CHARS else ("", "", False)


def named_values(page: Page) -> Iterator[tuple[Field, str, Element]]:
    """Return each value that stands in an element which is called so in the page's code."""
    for element in page.root.select(_CALLED_SOMETHING)[:MAX_CALLED]:
        text = element.text
        if len(text) > 4 * MAX_VALUE_CHARS:
            continue
        name = code_names(element)
        for field, pattern in _CALLED:
            if pattern.search(name) and (value := _checked_value(field, " ".join(text.split()))):
                yield field, value, element


def _checked_value(field: Field, value: str) -> str:
    """Return a value that may be one of its field, "" for another."""
    value = value.strip(" :\uff1a#-()[]\u200e\u200f").strip()
    if field is Field.BRAND:
        return value if _MAKER.fullmatch(value) and value.count(" ") <= 5 else ""  # noqa: PLR2004 - names are shorter
    found = _CODE.fullmatch(value) if len(value) <= MAX_VALUE_CHARS else None
    if found is None and (first := _CODE.match(value)) and field is not Field.MPN and " " not in first.group():
        found = first if len(value) <= 2 * len(first.group()) else None
    return found.group().lstrip("#") if found else ""


LENGTHS = frozenset({8, 12, 13, 14})
"""Digits of a GTIN (GS1 General Specifications, section 2)."""


def gtin(text: str) -> str:
    """Return a number whose check digit is right, "" for any other."""
    digits = re.sub(r"[\s-]", "", text[:40])
    if len(digits) not in LENGTHS or not digits.isascii() or not digits.isdigit() or len(set(digits)) == 1:
        return ""
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(reversed(digits)))
    return digits if weighted % 10 == 0 else ""


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

LABELS: dict[str, Field] = {
    word: field
    for field, words in ((Field.BRAND, _BRAND), (Field.SKU, _SKU), (Field.MPN, _MPN), (Field.GTIN, _GTIN))
    for word in listed(words)
}
"""What stands before a number or a maker, in lower case and without a colon."""
