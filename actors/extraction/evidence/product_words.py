"""The words that shops write beside values, on buttons and of their stock, in many languages."""

# ruff: noqa: RUF001 - words of other alphabets look like Latin ones

from __future__ import annotations

import re

from actors.extraction.evidence.claim import PageField


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
style number, numéro de l'objet ebay, numéro d'article, numero oggetto ebay, ebay item number,
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
producentens varenummer, модель, код производителя, 型番, 型号, 型號, 모델명, mfr part, mfr part number, mfr part no,
mfr. part, mfr. part no, mfg part, mfg. part, mfg part number, mfg, mfr, manufacturer part, manufacturer part no,
manufacturer's part number, manufacturers part number, manufacturer sku, manufacturer model number, part, part no,
part nr, part num, model nr, model code, modelnr, hersteller-artikelnummer, hersteller-artikelnr, hersteller art.-nr,
hersteller art. nr, herstellernr, herst.-nr, modellbezeichnung, référence constructeur, référence du fabricant,
réf. fabricant, réf fabricant, codice del produttore, codice modello, codice fabbricante,
número de pieza del fabricante, referencia del fabricante, referencia fabricante, ref. fabricante, código del modelo,
código do modelo, fabrikantcode, artikelnummer fabrikant, fabrikantnummer, numer katalogowy producenta, kod modelu,
symbol producenta, číslo modelu, označení výrobce, mallinumero, malli, valmistajan koodi, tillverkarens art.nr,
produsentens varenummer, gyártói cikkszám, modellszám, cod producător, üretici kodu, model kodu,
артикул производителя, код модели, партномер, メーカー型番, 型式, モデル番号, 製造商型號, 制造商型号, 產品型號,
产品型号, 모델번호
"""

_GTIN = """
ean, ean code, ean-code, ean-nummer, ean-nr, ean nummer, kod ean, código ean, codice ean, upc, upc code, gtin,
gtin-13, gtin13, gtin/ean, ean/gtin, isbn, isbn-13, isbn13, isbn-10, barcode, barkod, bar code, штрихкод, jan,
janコード, gtin-12, gtin12, gtin-14, gtin14, gtin-8, gtin8, ean13, ean-13, ean 13, ean/upc, upc/ean, upc-a, isbn 13,
global trade identification number, global trade item number, european article number, universal product code,
ean number, upc number, gtin number, strichcode, código de barras, código universal de producto, codice a barre,
code-barres, code barre, code à barres, streckkod, strekkode, stregkode, vonalkód, kod kreskowy, čárový kód,
čiarový kód, viivakoodi, cod de bare, barkod numarası, штрих-код, 条形码, 条码, 國際條碼, バーコード, 바코드
"""

_BRAND = """
brand, brand name, brands, marke, marque, marca, marka, značka, blagovna znamka, zīmols, prekės ženklas, kaubamärk,
merkki, tuotemerkki, märke, varumärke, merke, mærke, merk, brend, márka, бренд, торговая марка, 品牌, ブランド,
브랜드, marca del producto, manufacturer, hersteller, fabricant, fabricante, produttore, producent, výrobca, výrobce,
proizvajalec, proizvođač, ražotājs, gamintojas, tootja, valmistaja, tillverkare, producer, fabrikant, gyártó,
производитель, メーカー, vendor, marque du produit, κατασκευαστής, μάρκα
"""

LABELS: dict[str, PageField] = {
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

BUY_TEXTS = _listed(_BUY)
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

OUT_OF_STOCK = _listed(_OUT)
IN_STOCK = _listed(_IN)
PRE_ORDER = _listed(_LATER)
