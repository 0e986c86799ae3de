"""Pages on which one action is done, as it should be or in one of the ways in which it goes wrong.

Each is made by a seed: what is on it, how far apart, in which language, and what changes on it by itself. What an action
comes to is known, as whoever made the page has said so: that is the truth that verdicts are measured by.
"""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Any, Final

from protocol.acting.steps import ExpectedKind


class Mishap(StrEnum):
    """What becomes of an action; only RIGHT is a success."""

    RIGHT = "right"
    DROPPED = "dropped"
    """Nobody performs it."""
    DEAD = "dead"
    """The page does nothing of it."""
    REDRAWN = "redrawn"
    """The page draws itself anew, as it was."""
    WRONG_ELEMENT = "wrong_element"
    """It is done to the element beside the one meant."""
    ERROR = "error"
    """The page says that it went wrong."""
    PASSING_ERROR = "passing_error"
    """It says so for a moment."""
    SPINNER = "spinner"
    """The page works on it and never comes to an end."""
    UNDONE = "undone"
    """What was entered is taken back by the page."""


@dataclass(frozen=True, kw_only=True)
class StepPage:
    """A page with one action: `target` and `decoy` are what the action is about, and what lies beside it."""

    name: str
    html: str
    action: str
    step: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    expected: ExpectedKind = ExpectedKind.ANY_CHANGE
    wanted: str = ""
    next_step: str = ""
    mishaps: tuple[Mishap, ...] = (Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.WRONG_ELEMENT, Mishap.ERROR)


ACTED: Final = tuple(Mishap)

_WORDS: Final = {
    "en": (
        "Save",
        "Cancel",
        "Search",
        "Add to cart",
        "Next",
        "Details",
        "Name",
        "City",
        "Email",
        "Saved.",
        "Name is required",
        "Something went wrong",
        "Loading…",
        "Delete",
        "Accept the terms",
        "Colour",
        "Open",
    ),
    "de": (
        "Speichern",
        "Abbrechen",
        "Suchen",
        "In den Warenkorb",
        "Weiter",
        "Einzelheiten",
        "Name",
        "Ort",
        "E-Mail",
        "Gespeichert.",
        "Name ist erforderlich",
        "Es ist ein Fehler aufgetreten",
        "Wird geladen…",
        "Löschen",
        "AGB annehmen",
        "Farbe",
        "Öffnen",
    ),
    "fr": (
        "Enregistrer",
        "Annuler",
        "Rechercher",
        "Ajouter au panier",
        "Suivant",
        "Détails",
        "Nom",
        "Ville",
        "E-mail",
        "Enregistré.",
        "Le nom est obligatoire",
        "Une erreur est survenue",
        "Chargement…",
        "Supprimer",
        "Accepter les conditions",
        "Couleur",
        "Ouvrir",
    ),
    "es": (
        "Guardar",
        "Cancelar",
        "Buscar",
        "Añadir al carrito",
        "Siguiente",
        "Detalles",
        "Nombre",
        "Ciudad",
        "Correo",
        "Guardado.",
        "El nombre es obligatorio",
        "Se ha producido un error",
        "Cargando…",
        "Eliminar",
        "Aceptar las condiciones",
        "Color",
        "Abrir",
    ),
    "it": (
        "Salva",
        "Annulla",
        "Cerca",
        "Aggiungi al carrello",
        "Avanti",
        "Dettagli",
        "Nome",
        "Città",
        "Email",
        "Salvato.",
        "Il nome è obbligatorio",
        "Si è verificato un errore",
        "Caricamento…",
        "Elimina",
        "Accetta i termini",
        "Colore",
        "Apri",
    ),
    "pl": (
        "Zapisz",
        "Anuluj",
        "Szukaj",
        "Dodaj do koszyka",
        "Dalej",
        "Szczegóły",
        "Imię",
        "Miasto",
        "E-mail",
        "Zmiany zostały zapisane.",
        "Imię jest wymagane",
        "Wystąpił błąd",
        "Ładowanie…",
        "Usuń",
        "Akceptuję regulamin",
        "Kolor",
        "Otwórz",
    ),
    "tr": (
        "Kaydet",
        "İptal",
        "Ara",
        "Sepete ekle",
        "İleri",
        "Ayrıntılar",
        "Ad",
        "Şehir",
        "E-posta",
        "Kaydedildi.",
        "Ad alanı zorunludur",
        "Bir hata oluştu",
        "Yükleniyor…",
        "Sil",
        "Koşulları kabul ediyorum",
        "Renk",
        "Aç",
    ),
    "ru": (
        "Сохранить",
        "Отмена",
        "Найти",
        "В корзину",
        "Далее",
        "Подробнее",
        "Имя",
        "Город",
        "Почта",
        "Изменения сохранены.",
        "Поле «Имя» обязательно для заполнения",
        "Произошла ошибка",
        "Загрузка…",
        "Удалить",
        "Принимаю условия",
        "Цвет",
        "Открыть",
    ),
    "zh": (
        "保存",
        "取消",
        "搜索",
        "加入购物车",
        "下一步",
        "详情",
        "姓名",
        "城市",
        "邮箱",
        "已保存。",
        "姓名不能为空",
        "系统出错了，请稍后再试",
        "加载中…",
        "删除",
        "接受条款",
        "颜色",
        "打开",
    ),
    "ja": (
        "保存",
        "キャンセル",
        "検索",
        "カートに入れる",
        "次へ",
        "詳細",
        "名前",
        "都市",
        "メール",
        "保存しました。",
        "名前を入力してください",
        "エラーが発生しました",
        "読み込み中…",
        "削除",
        "利用規約に同意する",
        "色",
        "開く",
    ),
    "ko": (
        "저장",
        "취소",
        "검색",
        "장바구니에 담기",
        "다음",
        "상세 정보",
        "이름",
        "도시",
        "이메일",
        "저장되었습니다.",
        "이름을 입력해 주세요",
        "오류가 발생했습니다",
        "불러오는 중…",
        "삭제",
        "약관에 동의",
        "색상",
        "열기",
    ),
}
_KEYS: Final = (
    "save",
    "cancel",
    "search",
    "add",
    "next",
    "details",
    "name",
    "city",
    "email",
    "saved",
    "required",
    "wrong",
    "loading",
    "delete",
    "terms",
    "colour",
    "open",
)
_GOODS: Final = (
    "Oak table",
    "Brass lamp",
    "Wool rug",
    "Desk chair",
    "Wall clock",
    "Tea pot",
    "Bread knife",
    "Linen towel",
    "Candle",
    "Mirror",
)
_PEOPLE: Final = ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Mary Shelley", "Emmy Noether")
_MONTHS: Final = ("April", "May", "June", "July", "August", "September")
_PLACES: Final = ("Lyon", "Turin", "Porto", "Ghent", "Bergen")

_SCRIPT: Final = """
const MODE = '%(mode)s', ERRORS = %(errors)r, WAIT = %(loading)r, PLACE = '%(place)s';
function say(words, near, kind) {
  const box = document.createElement('div');
  box.className = kind; if (kind === 'error') box.setAttribute('role', 'alert');
  box.textContent = words;
  if (PLACE === 'near' && near) near.closest('div,form,li,tr')?.appendChild(box) ?? document.body.prepend(box);
  else if (PLACE === 'top') document.querySelector('main').prepend(box);
  else { box.style.cssText = 'position:fixed;right:10px;bottom:10px'; document.body.appendChild(box); }
  return box;
}
function effect(of, done) {
  if (MODE === 'dead') return;
  if (MODE === 'redrawn') { const main = document.querySelector('main'); main.innerHTML = main.innerHTML; return; }
  if (MODE === 'error') { say(ERRORS, of, 'error'); return; }
  if (MODE === 'passing_error') { const box = say(ERRORS, of, 'error'); setTimeout(() => box.remove(), 200); return; }
  if (MODE === 'spinner') { say(WAIT, of, 'spinner'); return; }
  done();
}
let ticks = 0;
function tick() {
  ticks += 1;
  for (const one of document.querySelectorAll('.clock')) one.textContent = '12:0' + (ticks %% 10) + ':0' + (ticks * 3 %% 10);
  for (const one of document.querySelectorAll('.ad')) one.innerHTML = '<a href="#ad' + ticks + '">' + ['Cheap flights', 'New phones', 'Slim fast', 'Win a car'][ticks %% 4] + '</a>';
  for (const one of document.querySelectorAll('.viewers')) one.textContent = (1200 + ticks * 7) + ' people are watching';
  for (const one of document.querySelectorAll('.ticker')) one.textContent = ['Rain in the north', 'Markets close higher', 'Cup final tonight'][ticks %% 3];
}
%(own)s
"""


@dataclass(frozen=True)
class _Draft:
    """What is the same of the pages of one seed."""

    random: Random
    words: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        """Return a word in the language of the page."""
        return self.words[key]

    def goods(self, count: int) -> list[str]:
        """Return the names of some goods."""
        return self.random.sample(_GOODS, count)


def step_page(seed: int, mishap: Mishap) -> StepPage | None:
    """Return the page of a seed, on which an action goes as `mishap` says; None where it cannot on that page."""
    random = Random(seed)
    language = random.choice(("en", "en", "en", *_WORDS))
    draft = _Draft(random, dict(zip(_KEYS, _WORDS[language], strict=True)))
    made = random.choice(TEMPLATES)(draft)
    if mishap is not Mishap.RIGHT and mishap not in made.mishaps:
        return None
    mode = mishap.value if mishap not in {Mishap.DROPPED, Mishap.WRONG_ELEMENT} else Mishap.RIGHT.value
    body, _, own = made.html.partition("<!--script-->")
    values = {
        "mode": mode,
        "errors": random.choice((draft["required"], draft["wrong"])),
        "loading": draft["loading"],
        "place": random.choice(("near", "near", "top", "corner")),
        "own": own,
    }
    html = f"{_frame(draft, body)}<script>{_SCRIPT % values}</script>"
    return replace(made, html=html)


def _frame(draft: _Draft, body: str) -> str:
    """Return a page around its main part: links, and what changes by itself."""
    random = draft.random
    own = [
        "<span class=clock>12:00:00</span>",
        "<div class=ad><a href='#ad'>Sponsored</a></div>",
        "<span class=viewers>1200 people are watching</span>",
        "<p class=ticker>Local news</p>",
    ]
    aside = "".join(random.sample(own, random.randint(1, 4)))
    gap = random.choice((4, 10, 24))
    links = "".join(f"<a href='#{one}'>{one}</a> " for one in ("Home", "Offers", "Help", "Contact"))
    extra = "".join(
        f"<p>Note {number}: {random.choice(_GOODS)} and more.</p>" for number in range(random.randint(0, 4))
    )
    side = random.choice(("float:right;width:200px", "position:fixed;bottom:0;left:0", ""))
    return (
        f"<style>main>*{{margin:{gap}px 0}} button{{margin:{gap // 2}px}}</style><header><b>Shop</b> {links}"
        f"<a href='#cart' id=cart>Cart (0)</a></header><aside style='{side}'>{aside}</aside><main>{body}{extra}</main>"
    )


# -- templates ---------------------------------------------------------------------------------------------------------


def _form(draft: _Draft) -> StepPage:
    """Save a form; it says so."""
    fields = "".join(f"<label>{draft[one]} <input></label><br>" for one in ("name", "city", "email"))
    html = f"<form onsubmit='return false'><div>{fields}<button id=target>{draft['save']}</button><button type=button id=decoy onclick='this.form.reset()'>{draft['cancel']}</button></div></form><!--script-->target.onclick = () => effect(target, () => say({draft['saved']!r}, target, 'done'));"
    return StepPage(name="form", html=html, action="click", step=f'Click "{draft["save"]}"', mishaps=ACTED[1:-1])


def _field(draft: _Draft) -> StepPage:
    """Fill in a field beside another one."""
    fields = [
        f"<label>{draft['name']} <input id=target></label>",
        f"<label>{draft['city']} <input id=decoy></label>",
        f"<label>{draft['email']} <input></label>",
    ]
    draft.random.shuffle(fields)
    html = f"<form><div>{'<br>'.join(fields)}</div></form><!--script-->target.onchange = () => {{ if (MODE === 'undone') target.value = ''; if (MODE === 'error') {{ target.setAttribute('aria-invalid', 'true'); say(ERRORS, target, 'error'); }} }};"
    text = draft.random.choice((*_PEOPLE, *_PLACES, "ada@example.com", "12"))
    return StepPage(
        name="field", html=html, action="setValue", step=f'Enter "{text}" into {draft["name"]}', arguments={"value": text},
        expected=ExpectedKind.VALUE_CHANGES, wanted=text,
        mishaps=(Mishap.DROPPED, Mishap.WRONG_ELEMENT, Mishap.UNDONE, Mishap.ERROR),
    )  # fmt: skip


def _choice(draft: _Draft) -> StepPage:
    """Choose from a list."""
    options = "".join(f"<option>{one}</option>" for one in ("Red", "Green", "Blue", "Black"))
    html = f"<form><div><label>{draft['colour']} <select id=target>{options}</select></label><label>Size <select id=decoy>{options}</select></label></div></form><!--script-->target.onchange = () => {{ if (MODE === 'undone') target.value = 'Red'; if (MODE === 'error') say(ERRORS, target, 'error'); }};"
    wanted = draft.random.choice(("Green", "Blue", "Black"))
    return StepPage(
        name="choice", html=html, action="selectDropdown", step=f"Select {wanted}", arguments={"value": wanted},
        expected=ExpectedKind.VALUE_CHANGES, wanted=wanted,
        mishaps=(Mishap.DROPPED, Mishap.WRONG_ELEMENT, Mishap.UNDONE, Mishap.ERROR),
    )  # fmt: skip


def _box(draft: _Draft) -> StepPage:
    """Check a box."""
    html = f"<form><div><label><input type=checkbox id=target> {draft['terms']}</label><br><label><input type=checkbox id=decoy> Newsletter</label></div></form><!--script-->target.onchange = () => {{ if (MODE === 'undone') target.checked = false; if (MODE === 'error') {{ target.checked = false; say(ERRORS, target, 'error'); }} }};"
    return StepPage(
        name="box", html=html, action="check", step=f"Check {draft['terms']}", expected=ExpectedKind.STATE_CHANGES,
        wanted="checked", mishaps=(Mishap.DROPPED, Mishap.WRONG_ELEMENT, Mishap.UNDONE, Mishap.ERROR),
    )  # fmt: skip


def _cart(draft: _Draft) -> StepPage:
    """Put one of several goods into the cart: its counter says so, far away."""
    goods = draft.goods(draft.random.randint(2, 5))
    ids = {0: "id=target", 1: "id=decoy"}
    rows = "".join(
        f"<li>{one} <b>${7 + at}.50</b> <button {ids.get(at, '')}>{draft['add']}</button></li>"
        for at, one in enumerate(goods)
    )
    loud = draft.random.random() < 0.5
    told = f"say({goods[0]!r} + ' +1', target, 'done');" if loud else ""
    html = f"<ul>{rows}</ul><!--script-->target.onclick = () => effect(target, () => {{ cart.textContent = 'Cart (1)'; {told} }}); decoy.onclick = () => {{ cart.textContent = 'Cart (1)'; }};"
    return StepPage(
        name="cart",
        html=html,
        action="click",
        step=f"Add {goods[0]} to the cart",
        mishaps=tuple(one for one in ACTED[1:-1] if one is not Mishap.WRONG_ELEMENT),
    )


def _tabs(draft: _Draft) -> StepPage:
    """Open a tab: another panel is shown."""
    html = f"<div role=tablist><button role=tab aria-selected=true>Info</button><button role=tab id=target aria-selected=false>{draft['details']}</button><button role=tab id=decoy aria-selected=false>Reviews</button></div><section id=panel><p>An introduction.</p></section><!--script-->const open = (one, words) => {{ for (const tab of document.querySelectorAll('[role=tab]')) tab.setAttribute('aria-selected', tab === one); panel.innerHTML = words; }}; target.onclick = () => effect(target, () => open(target, '<p>Made of oak.</p><p>Weighs 12 kg.</p>')); decoy.onclick = () => open(decoy, '<p>Very good, says Ann.</p>');"
    return StepPage(
        name="tabs",
        html=html,
        action="click",
        step=f'Click "{draft["details"]}"',
        expected=ExpectedKind.STATE_CHANGES,
        wanted="selected",
        mishaps=ACTED[1:-1],
    )


def _dialog(draft: _Draft) -> StepPage:
    """Open a dialog over the page."""
    html = f"<p>Your order.</p><button id=target>{draft['open']}</button> <button id=decoy onclick=\"this.textContent='Marked'\">Mark</button><dialog id=box><h2>Delivery</h2><label>Street <input></label><button>OK</button></dialog><!--script-->target.onclick = () => effect(target, () => box.showModal());"
    return StepPage(
        name="dialog",
        html=html,
        action="click",
        step=f'Click "{draft["open"]}"',
        next_step='Click "OK"',
        mishaps=ACTED[1:-1],
    )


def _closing(draft: _Draft) -> StepPage:
    """Close a dialog."""
    html = f"<p>Your order.</p><a href='#more'>More</a><dialog id=box><h2>Delivery</h2><label>Street <input></label><button id=decoy>OK</button> <button id=target>{draft['cancel']}</button></dialog><!--script-->box.showModal(); target.onclick = () => effect(target, () => box.close()); decoy.onclick = () => say(ERRORS, decoy, 'error');"
    return StepPage(
        name="closing",
        html=html,
        action="click",
        step=f'Click "{draft["cancel"]}"',
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.WRONG_ELEMENT, Mishap.SPINNER),
    )


def _fold(draft: _Draft) -> StepPage:
    """Unfold a section."""
    parts = "".join(
        f"<h3><button id={name} aria-expanded=false>{words}</button></h3><div id={name}_body hidden><p>{words}: all that there is to say.</p></div>"
        for name, words in (("first", "Shipping"), ("target", draft["details"]), ("decoy", "Returns"))
    )
    html = f"{parts}<!--script-->const unfold = (one) => {{ one.setAttribute('aria-expanded', true); document.getElementById(one.id + '_body').hidden = false; }}; target.onclick = () => effect(target, () => unfold(target)); decoy.onclick = () => unfold(decoy);"
    return StepPage(
        name="fold",
        html=html,
        action="click",
        step=f"Unfold {draft['details']}",
        expected=ExpectedKind.STATE_CHANGES,
        wanted="expanded",
        mishaps=ACTED[1:-1],
    )


def _delete(draft: _Draft) -> StepPage:
    """Delete a row."""
    goods = draft.goods(4)
    ids = {1: "target", 2: "decoy"}
    rows = "".join(
        f"<li id=row{at}>{one} <button id={ids.get(at, f'x{at}')} onclick='remove_row(this)'>{draft['delete']}</button></li>"
        for at, one in enumerate(goods)
    )
    html = f"<ul>{rows}</ul><!--script-->function remove_row(one) {{ const gone = () => one.closest('li').remove(); one === target ? effect(one, gone) : gone(); }}"
    return StepPage(
        name="delete",
        html=html,
        action="click",
        step=f"Delete {goods[1]}",
        expected=ExpectedKind.ELEMENT_DISAPPEARS,
        wanted=goods[1],
        mishaps=ACTED[1:-1],
    )


def _adding(draft: _Draft) -> StepPage:
    """Add an entry to a list by Enter."""
    entry = draft.random.choice(_PEOPLE)
    html = f"<form onsubmit='return false'><label>{draft['name']} <input id=target value={entry!r}></label></form><ul id=list><li>{_PLACES[0]}</li></ul><!--script-->target.onkeydown = (e) => {{ if (e.key === 'Enter') effect(target, () => {{ const row = document.createElement('li'); row.textContent = target.value; list.appendChild(row); target.value = ''; }}); }};"
    return StepPage(
        name="adding",
        html=html,
        action="press",
        step="Press Enter",
        arguments={"key": "Enter"},
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.ERROR, Mishap.PASSING_ERROR),
    )


def _sort(draft: _Draft) -> StepPage:
    """Sort a table by a column."""
    goods = sorted(draft.goods(5), reverse=True)
    rows = "".join(f"<tr><td>{one}</td><td>${len(one) * 3 + at}</td></tr>" for at, one in enumerate(goods))
    html = f"<table><thead><tr><th><button id=target>{draft['name']}</button></th><th><button id=decoy>Price</button></th></tr></thead><tbody id=rows>{rows}</tbody></table><!--script-->target.onclick = () => effect(target, () => rows.append(...[...rows.rows].reverse()));"
    return StepPage(
        name="sort",
        html=html,
        action="click",
        step=f"Sort by {draft['name']}",
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.WRONG_ELEMENT, Mishap.ERROR, Mishap.SPINNER),
    )


def _pages(draft: _Draft) -> StepPage:
    """Go on to the next page of results."""
    goods = draft.goods(8)
    rows = "".join(f"<li><a href='#{at}'>{one}</a></li>" for at, one in enumerate(goods[:4]))
    others = "".join(f"<li><a href='#{at}'>{one}</a></li>" for at, one in enumerate(goods[4:]))
    html = f"<ol id=rows>{rows}</ol><button disabled>1</button><button id=target>{draft['next']}</button><!--script-->target.onclick = () => effect(target, () => {{ rows.innerHTML = {others!r}; }});"
    return StepPage(
        name="pages",
        html=html,
        action="click",
        step=f'Click "{draft["next"]}"',
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.ERROR, Mishap.PASSING_ERROR, Mishap.SPINNER),
    )


def _searching(draft: _Draft) -> StepPage:
    """Search, with results below."""
    goods = draft.goods(3)
    results = "".join(f"<p><a href='#r'>{one}</a></p>" for one in goods)
    html = f"<form onsubmit='return false'><input aria-label={draft['search']!r} value=oak><button id=target>{draft['search']}</button></form><section id=results></section><!--script-->target.onclick = () => effect(target, () => {{ results.innerHTML = {results!r}; }});"
    return StepPage(
        name="searching",
        html=html,
        action="click",
        step=f'Click "{draft["search"]}"',
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.ERROR, Mishap.PASSING_ERROR, Mishap.SPINNER),
    )


def _going(draft: _Draft) -> StepPage:
    """Go to another view, with its address."""
    words = draft["details"]
    html = f"<p>Welcome.</p><a href='/orders' id=target>{words}</a> <a href='/help' id=decoy>Imprint</a><!--script-->const view = (path, words) => {{ history.pushState(0, '', path); document.title = words; document.querySelector('main').innerHTML = '<h1>' + words + '</h1><p>All of it.</p>'; }}; target.onclick = (e) => {{ e.preventDefault(); effect(target, () => view('/orders', 'Orders')); }}; decoy.onclick = (e) => {{ e.preventDefault(); view('/help', 'Imprint'); }};"
    return StepPage(
        name="going",
        html=html,
        action="click",
        step=f'Click "{words}"',
        expected=ExpectedKind.NAVIGATION,
        wanted="orders",
        mishaps=ACTED[1:-1],
    )


def _menu(draft: _Draft) -> StepPage:
    """Open a menu."""
    html = f"<div><button id=target aria-haspopup=menu>{draft['open']}</button><button id=decoy onclick=\"this.textContent += '!'\">Star</button><ul id=menu role=menu hidden><li role=menuitem tabindex=0>Rename</li><li role=menuitem tabindex=0>{draft['delete']}</li></ul></div><!--script-->target.onclick = () => effect(target, () => {{ menu.hidden = false; }});"
    return StepPage(
        name="menu", html=html, action="click", step="Open the menu", next_step='Click "Rename"', mishaps=ACTED[1:-1]
    )


def _like(draft: _Draft) -> StepPage:
    """Press a button that stays pressed."""
    rows = "".join(
        f"<div>{one} <button id={name} aria-pressed=false onclick='press(this)'>Like</button></div>"
        for name, one in zip(("target", "decoy"), draft.goods(2), strict=True)
    )
    html = f"{rows}<!--script-->function press(one) {{ const on = () => one.setAttribute('aria-pressed', true); one === target ? effect(one, on) : on(); }}"
    return StepPage(
        name="like",
        html=html,
        action="click",
        step="Like the first",
        expected=ExpectedKind.STATE_CHANGES,
        wanted="pressed",
        mishaps=ACTED[1:-1],
    )


def _steps(draft: _Draft) -> StepPage:
    """Go on to the next part of a form."""
    html = f"<form onsubmit='return false' id=wizard><div><h2>1 of 2</h2><label>{draft['name']} <input value=Ada></label><button id=target>{draft['next']}</button> <button type=button id=decoy onclick='this.form.reset()'>{draft['cancel']}</button></div></form><!--script-->target.onclick = () => effect(target, () => {{ wizard.innerHTML = '<h2>2 of 2</h2><label>Street <input></label><button>Finish</button>'; }});"
    return StepPage(
        name="steps",
        html=html,
        action="click",
        step=f'Click "{draft["next"]}"',
        next_step='Click "Finish"',
        mishaps=ACTED[1:-1],
    )


def _stepper(draft: _Draft) -> StepPage:
    """Raise a quantity."""
    rows = "".join(
        f"<div>{one} <button>−</button><span id={name}_n>1</span><button id={name} onclick='raise(this)'>+</button></div>"
        for name, one in zip(("target", "decoy"), draft.goods(2), strict=True)
    )
    html = f"{rows}<!--script-->function raise(one) {{ const n = document.getElementById(one.id + '_n'), up = () => {{ n.textContent = +n.textContent + 1; }}; one === target ? effect(one, up) : up(); }}"
    return StepPage(
        name="stepper",
        html=html,
        action="click",
        step="Take one more of the first",
        mishaps=tuple(one for one in ACTED[1:-1] if one is not Mishap.WRONG_ELEMENT),
    )


def _hint(draft: _Draft) -> StepPage:
    """Take one of the hints under a field."""
    names = draft.random.sample(_PLACES, 3)
    ids = ("target", "decoy", "third")
    hints = "".join(
        f"<li role=option id={name} tabindex=0 onclick='take(this)'>{one}</li>"
        for name, one in zip(ids, names, strict=True)
    )
    html = f"<label>{draft['city']} <input id=place></label><ul role=listbox id=hints>{hints}</ul><!--script-->function take(one) {{ const put = () => {{ place.value = one.textContent; hints.remove(); }}; one === target ? effect(one, put) : put(); }}"
    return StepPage(
        name="hint",
        html=html,
        action="click",
        step=f'Click "{names[0]}"',
        expected=ExpectedKind.ELEMENT_DISAPPEARS,
        wanted=names[1],
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.ERROR, Mishap.SPINNER),
    )


def _more(draft: _Draft) -> StepPage:
    """Load more rows, far above the button."""
    goods = draft.goods(8)
    rows = "".join(f"<p>{one}</p>" for one in goods[:6])
    html = f"<section id=rows>{rows}</section><button id=target>{draft['next']}</button><!--script-->target.onclick = () => effect(target, () => {{ rows.innerHTML += '<p>{goods[6]}</p><p>{goods[7]}</p>'; }});"
    return StepPage(
        name="more",
        html=html,
        action="click",
        step=f'Click "{draft["next"]}"',
        mishaps=(Mishap.DROPPED, Mishap.DEAD, Mishap.REDRAWN, Mishap.ERROR, Mishap.PASSING_ERROR, Mishap.SPINNER),
    )


def _month(draft: _Draft) -> StepPage:
    """Go on to the next month of a calendar."""
    at = draft.random.randrange(len(_MONTHS) - 1)
    days = "".join(f"<td><a href='#d{day}'>{day}</a></td>" for day in range(1, 8))
    html = f"<div><button id=decoy>Earlier</button> <span id=month>{_MONTHS[at]} 2026</span> <button id=target>Later</button><table><tr>{days}</tr></table></div><!--script-->target.onclick = () => effect(target, () => {{ month.textContent = '{_MONTHS[at + 1]} 2026'; }}); decoy.onclick = () => {{ month.textContent = 'December 2025'; }};"
    return StepPage(name="month", html=html, action="click", step='Click "Later"', mishaps=ACTED[1:-1])


def _shade(draft: _Draft) -> StepPage:
    """Mark one of several boxes without words, which shows in its style alone."""
    boxes = "".join(
        f"<div id={name} tabindex=0 title={title!r} style='width:40px;height:40px;background:{colour}' onclick='mark(this)'></div>"
        for name, title, colour in (
            ("target", "Rust", "#b7410e"),
            ("decoy", "Moss", "#8a9a5b"),
            ("third", "Slate", "#708090"),
        )
    )
    html = f"<div>{boxes}</div><!--script-->function mark(one) {{ const on = () => one.classList.toggle('marked'); one === target ? effect(one, on) : on(); }}"
    mishaps = (Mishap.DROPPED, Mishap.DEAD, Mishap.WRONG_ELEMENT, Mishap.ERROR)
    return StepPage(name="shade", html=html, action="click", step='Click "Rust"', mishaps=mishaps)


TEMPLATES: Final[tuple[Callable[[_Draft], StepPage], ...]] = (
    _form, _field, _choice, _box, _cart, _tabs, _dialog, _closing, _fold, _delete, _adding, _sort, _pages, _searching,
    _going, _menu, _like, _steps, _stepper, _hint, _more, _month, _shade, _field, _choice, _box, _going, _form,
)  # fmt: skip
