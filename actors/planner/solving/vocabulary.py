"""What the words of a goal mean: verbs of four languages, kinds of controls, colours, shapes, superlatives."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Deed(StrEnum):
    """What an instruction wants done."""

    PRESS = "press"
    DOUBLE = "double"
    CONTEXT_MENU = "context_menu"
    HOVER = "hover"
    FOCUS = "focus"
    FILL = "fill"
    SET = "set"
    CHOOSE = "choose"
    UNCHECK = "uncheck"
    SEARCH = "search"
    VISIT = "visit"
    BACK = "back"
    REFRESH = "refresh"
    SCROLL = "scroll"
    SORT = "sort"
    DRAG = "drag"
    HIGHLIGHT = "highlight"
    COPY = "copy"
    SUBMIT = "submit"
    EXPAND = "expand"
    CLOSE = "close"
    WAIT = "wait"
    LOG_IN = "log_in"
    ADD = "add"
    BUY = "buy"
    FIND = "find"
    READ = "read"
    COUNT = "count"
    SOLVE = "solve"
    ON_ITEM = "on_item"
    """A verb that pages have controls for on each of many things: delete, forward, reply, star, edit, …"""
    DRAW = "draw"
    RESIZE = "resize"
    CONFIRM = "confirm"


_VERBS: Final[Mapping[Deed, str]] = MappingProxyType(
    {
        Deed.DOUBLE: "double click on|double click|double-click on|double-click|doppelklicke auf|doppelklicke",
        Deed.CONTEXT_MENU: "right click on|right click|right-click on|right-click|rechtsklicke auf",
        Deed.LOG_IN: "log in to|log in|log me in|login to|login|sign in to|sign in|sign me in"
        "|melde dich an|melde mich an"
        "|anmelden|connecte-toi|connectez-vous|inicia sesión|iniciar sesión",
        Deed.PRESS: "click on the|click on|click|press on|press|tap on|tap|hit|push|klicke auf|klick auf|klicken auf"
        "|klicke|drücke auf|drücke|tippe auf|klicken|drücken|clique sur|cliquez sur|cliquer sur|clique|appuie sur"
        "|appuyez sur|haz clic en|hacer clic en|haga clic en|pulsa en|pulsa|presiona|pincha en",
        Deed.HOVER: "hover over|hover on|hover|keep the mouse hovered over|move the mouse over|mouse over",
        Deed.FOCUS: "focus into|focus on|focus|put the cursor into|put the cursor in|place the cursor in",
        Deed.FILL: "fill in|fill out|fill|enter|paste|type in|type|write|input|put|gib|gebe|trage|tippe|schreibe"
        "|eingeben|eintragen|saisis|saisissez|saisir|entre|entrez|écris|tape|tapez|remplis|remplissez|escribe|escriba"
        "|introduce|introduzca|ingresa|ingrese|rellena|rellene|teclea",
        Deed.SET: "set|change|adjust|move|slide|stelle|setze|ändere|règle|mets|pon|ajusta|cambia",
        Deed.UNCHECK: "uncheck|untick|deselect|unselect|clear the checkbox|turn off|disable|deaktiviere|décoche"
        "|décochez|desmarca|desmarque",
        Deed.CHOOSE: "select|choose|pick|check|tick|mark|turn on|enable|wähle|wählen|auswählen|aktiviere|markiere"
        "|choisis|choisissez|sélectionne|sélectionnez|coche|cochez|elige|elija|selecciona|seleccione|marca|marque",
        Deed.SEARCH: "search the site for|search for|search|look up|google|suche nach|suche|recherche|recherchez"
        "|cherche|busca|buscar",
        Deed.VISIT: "go to|navigate to|visit|browse to|open the page|open the site|gehe zu|öffne die seite|va sur"
        "|allez sur|ve a|visita",
        Deed.BACK: "go back|return to the previous page|gehe zurück|reviens|vuelve atrás",
        Deed.REFRESH: "refresh|reload|lade neu|recharge|actualiza",
        Deed.SCROLL: "scroll down to|scroll up to|scroll to|scroll|scrolle zu|scrolle|fais défiler|desplázate",
        Deed.SORT: "sort|order the list|order the table|arrange|sortiere|trie|triez|ordena",
        Deed.DRAG: "drag and drop|drag|ziehe|glisse|glissez|arrastra",
        Deed.HIGHLIGHT: "highlight|select the text|select all text|select all the text|markiere den text|surligne",
        Deed.COPY: "copy|kopiere|copie|copiez|copia",
        Deed.SUBMIT: "check out|checkout|proceed to checkout|place the order|place order|submit the form|submit"
        "|send the form|send|absenden|sende ab|schicke ab|envoie|envoyez|envía|soumets|soumettez",
        Deed.EXPAND: "expand|unfold|open up|open|show|unhide|öffne|öffnen|klappe|ouvre|ouvrez|déplie|abre|abra"
        "|despliega|switch to",
        Deed.CLOSE: "close|dismiss|collapse|hide|schließe|ferme|fermez|cierra",
        Deed.WAIT: "wait for|wait until|wait|warte auf|warte|attends|espera",
        Deed.ADD: "add|put in the cart|lege|füge|ajoute|ajoutez|añade|agrega",
        Deed.BUY: "buy|order|purchase|book|reserve|kaufe|bestelle|buche|achète|achetez|commande|compra|reserva",
        Deed.CONFIRM: "confirm|accept|agree to|agree|bestätige|akzeptiere|confirme|accepte|confirma|acepta",
        Deed.COUNT: "how many|count|wie viele|combien de|cuántos|cuántas",
        Deed.READ: "what is|what's|what are|what does|read|tell me|get|report|extract|how much is|how much does"
        "|how much|who is|who|when is|when does|when|where is|where|which|find out|was ist|wie hoch ist|wie viel kostet"
        "|lies|quel est|quelle est|combien coûte|lis|cuál es|cuánto cuesta|lee",
        Deed.SOLVE: "solve|calculate|compute|löse|berechne|résous|calcule|resuelve|calcula",
        Deed.FIND: "find|locate|look for|finde|trouve|trouvez|encuentra",
        Deed.ON_ITEM: "delete|remove|trash|forward|reply to|reply|star|archive|edit|like|retweet|share|mute|block"
        "|follow|unfollow|lösche|entferne|beantworte|supprime|supprimez|réponds|elimina|borra|responde|reenvía",
        Deed.DRAW: "draw|zeichne|dessine|dibuja",
        Deed.RESIZE: "resize|enlarge|shrink",
    }
)

VERBS: Final[Mapping[str, Deed]] = MappingProxyType(
    {verb: deed for deed, verbs in _VERBS.items() for verb in verbs.split("|")}
)
"""What each verb wants done."""

VERB: Final = re.compile(
    r"(?:" + "|".join(re.escape(verb) for verb in sorted(VERBS, key=len, reverse=True)) + r")(?=[\s,:.!?\"“⟦{]|$)",
    re.IGNORECASE,
)
"""A verb; the longest that fits."""

FIELDS: Final = frozenset({"inp"})
"""Roles that text goes into."""

CHECKS: Final = frozenset({"chk", "radio", "switch"})
CONTROLS: Final = frozenset(
    {"btn", "link", "inp", "chk", "radio", "sel", "menu", "tab", "item", "opt", "tree", "switch", "slider", "spin"}
)
"""Roles of what is there to be acted on."""

_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "btn": "button buttons knopf schaltfläche bouton botón icon",
        "link": "link links hyperlink lien enlace",
        "inp": "field fields textbox textboxes textfield textarea textareas box boxes input inputs feld textfeld champ"
        " campo editor",
        "chk": "checkbox checkboxes kontrollkästchen case casilla box",
        "radio": "radio radios",
        "sel": "dropdown dropdowns select list combobox menu auswahlliste liste lista",
        "opt": "option options choice",
        "tab": "tab tabs reiter onglet pestaña section sections accordion",
        "menu": "menu menuitem item menü",
        "item": "item items listitem row entry result results element",
        "tree": "folder file node treeitem",
        "switch": "switch toggle",
        "slider": "slider sliders schieberegler curseur",
        "spin": "spinner spinbutton",
        "h": "heading title header überschrift",
        "img": "image picture icon icons shape figure photo bild",
        "text": "text word paragraph label",
    }
)

KIND_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        word: frozenset(role for role, words in _KINDS.items() if word in words.split())
        for word in {word for words in _KINDS.values() for word in words.split()}
    }
)
"""The roles that a word for a kind of control may mean."""

STOP_WORDS: Final = frozenset(
    "the a an this that these those of to on in into at for by with and or as is are be it its your my their his her"
    " please named labeled labelled called titled which input der die das den dem des ein eine einen im ins auf mit"
    " und le la les un une des du de l' et el los las una unos y en con dans sur ce cette".split()
)
"""Words that tell no target from another."""

COLOURS: Final = frozenset(
    "red green blue yellow orange purple pink brown black white gray grey cyan aqua magenta olive navy teal maroon"
    " lime silver violet fuchsia gold turquoise beige indigo".split()
)
"""Names of colours."""

SAME_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {"grey": "gray", "aqua": "cyan", "fuchsia": "magenta", "violet": "purple"}
)
"""Two names of one colour."""

SHAPES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "circle": frozenset({"circle", "ellipse"}),
        "rectangle": frozenset({"rect", "rectangle", "square"}),
        "square": frozenset({"rect", "rectangle", "square"}),
        "triangle": frozenset({"triangle", "polygon", "path"}),
        "line": frozenset({"line"}),
        "letter": frozenset({"text", "letter"}),
        "digit": frozenset({"text", "digit", "number"}),
        "number": frozenset({"text", "digit", "number"}),
        "dot": frozenset({"circle"}),
        "point": frozenset({"circle"}),
    }
)
"""Words for shapes, and what the tree calls them."""

MOST: Final = frozenset(
    "largest biggest greatest highest maximum max most longest heaviest latest newest oldest priciest tallest largest"
    " dearest größte höchste teuerste längste teuersten plus mayor".split()
)
LEAST: Final = frozenset(
    "smallest lowest least minimum min shortest cheapest lightest earliest fewest youngest nearest fastest kleinste"
    " niedrigste billigste günstigste günstigsten billigsten menor".split()
)
"""Superlatives, by the end of the order that they mean."""

POSITIONS: Final = frozenset("top bottom left right upper lower middle center centre topmost leftmost".split())
"""Words for where on the page something is."""

SYNONYMS: Final[tuple[frozenset[str], ...]] = (
    frozenset({"submit", "send", "absenden", "envoyer", "enviar", "done", "apply", "senden"}),
    frozenset({"login", "log in", "sign in", "signin", "anmelden", "einloggen", "connexion", "entrar", "se connecter"}),
    frozenset({"search", "go", "find", "suchen", "suche", "rechercher", "buscar", "magnifier", "go!"}),
    frozenset({"close", "x", "×", "✕", "✖", "dismiss", "schließen", "fermer", "cerrar"}),
    frozenset({"delete", "trash", "remove", "bin", "löschen", "supprimer", "eliminar", "borrar", "entfernen"}),
    frozenset({"forward", "weiterleiten", "transférer", "reenviar", "fwd"}),
    frozenset({"reply", "respond", "answer", "antworten", "répondre", "responder"}),
    frozenset({"star", "important", "favorite", "favourite", "flag", "bookmark"}),
    frozenset({"next", ">", "›", "»", "→", "weiter", "nächste", "suivant", "siguiente", "next page"}),
    frozenset({"previous", "prev", "<", "‹", "«", "←", "zurück", "précédent", "anterior"}),
    frozenset({"buy", "order", "purchase", "book", "kaufen", "bestellen", "acheter", "comprar", "place order"}),
    frozenset({"checkout", "check out", "proceed to checkout", "kasse", "zur kasse", "commander", "pagar"}),
    frozenset({"cart", "basket", "bag", "warenkorb", "panier", "carrito"}),
    frozenset({"add to cart", "add to basket", "add to bag", "in den warenkorb", "ajouter au panier"}),
    frozenset({"plus", "+", "increase", "add", "increment"}),
    frozenset({"minus", "-", "−", "decrease", "decrement"}),
    frozenset({"username", "user name", "user", "login name", "benutzername", "identifiant", "usuario", "user id"}),
    frozenset({"password", "passwort", "kennwort", "mot de passe", "contraseña", "passcode"}),
    frozenset({"email", "e-mail", "mail", "e-mail address", "email address", "correo"}),
    frozenset({"accept", "agree", "ok", "okay", "yes", "confirm", "akzeptieren", "accepter", "aceptar", "bestätigen"}),
    frozenset({"quantity", "qty", "amount", "menge", "anzahl", "quantité", "cantidad"}),
    frozenset({"phone", "telephone", "mobile", "phone number", "telefon", "téléphone", "teléfono"}),
    frozenset({"share", "share via", "teilen", "partager", "compartir"}),
    frozenset({"menu", "more", "☰", "⋮", "…", "..."}),
    frozenset({"to", "recipient", "recipients", "an", "à", "para"}),
    frozenset({"address", "location", "street", "adresse", "dirección"}),
    frozenset({"from", "departure", "origin", "leaving from"}),
)
"""What controls call the same thing."""
