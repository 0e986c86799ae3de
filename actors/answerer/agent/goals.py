"""Reads what a goal asks for in so many words: a calculation, pages, a text of a kind, and which tools it wants; pure.

It reads the words of the user alone, so that no page can have a say in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from protocol.agent import TransformType

ALWAYS: Final = (
    "search",
    "source.capture",
    "collection.list_sources",
    "transform.list_types",
    "browser.observe_dom",
    "browser.get_selection_links",
)
"""What any task may want: to read and to search."""

BROWSER: Final = (
    "browser.click",
    "browser.type",
    "browser.select",
    "browser.scroll",
    "browser.open_tab",
    "browser.navigate",
    "browser.back",
    "browser.forward",
    "browser.refresh",
)

# The beginnings of words in English, German, French, Spanish, Italian, Portuguese and Dutch; `$` ends a whole word.
_WANTED: Final[Mapping[tuple[str, ...], str]] = MappingProxyType(
    {
        ("app.calculate",): (
            "calculat|comput|how much|how many|total|sum$|cost|price|average|percent|difference|convert|together|per |"
            "berechn|rechne|wie viel|wieviel|summe|kost|preis|durchschnitt|prozent|calcul|combien|coût|prix|moyenne|"
            "cuánto|cuesta|precio|suma|promedio|quanto|costa|prezzo|preço|somma|soma|media|média|hoeveel|bereken|prijs"
        ),
        (
            "source.refresh",
        ): "refresh|update|up to date|again|anew|aktualis|erneut|actualis|actualiz|aggiorn|atualiz|ververs",
        ("collection.create", "collection.add_sources"): (
            "collect|add|gather|note$|notes$|sammel|sammle|füge|notier|ajout|rassembl|collecte|añad|agreg|reún|reun|"
            "aggiung|raccogl|adicion|junt|verzamel|voeg|"
        ),
        ("artifact.save",): (
            "save|keep|store|note$|notes$|write down|speicher|sicher|behalt|notier|enregistr|sauvegard|conserv|garde|"
            "guard|salv|bewaar|opslaan|sla "
        ),
        ("artifact.open",): "open|show|display|zeig|öffne|ouvr|montr|affich|abre|abrir|muestr|mostr|apri|toon",
        ("artifact.share",): (
            "share|export|download|print$|pdf$|csv$|teile|teilen|exportier|herunterlad|partag|télécharg|compart|"
            "descarg|condivid|esport|scaric|baixa|partilh|deel|delen|exporteer|downloaden"
        ),
        ("integration.invoke",): (
            "send|post$|notify|webhook|slack|e-mail|email|integration|ticket|message|sende|schick|benachrichtig|envoi|"
            "envoy|notifi|envia|enví|enviar|avis|invia|mand|avvis|stuur|verstuur|meld "
        ),
        BROWSER: (
            "click|press|type$|fill|select|scroll|navigate|go to|visit|open|browse|klick|drück|tipp|ausfüll|fülle|wähl|"
            "gehe zu|besuch|öffne|cliqu|appui|rempli|choisi|va sur|visit|ouvr|puls|rellen|elig|escrib|ve a|abre|abrir|"
            "premi|compil|scegl|vai|apri|preench|escolh|clica|klik|vul|kies|ga naar"
        ),
    }
)

_TRANSFORMS: Final[Mapping[TransformType, str]] = MappingProxyType(
    {
        TransformType.TIMELINE: "timeline|chronolog|zeitleiste|zeitstrahl|zeittafel|chronik|frise|cronolog|tijdlijn",
        TransformType.COMPARISON: "compar|vergleich|vergelijk",
        TransformType.EXECUTIVE_BRIEF: "executive brief|briefing|kurzfassung|note de synthèse|resumen ejecutivo",
        TransformType.FLASHCARDS: "flashcard|flash card|lernkarte|karteikarte|fiches? de révision|tarjetas|schede",
        TransformType.QUIZ: "quiz|quizz|test questions|prüfungsfragen|cuestionario|questionário",
        TransformType.STUDY_GUIDE: "study guide|lernhilfe|guide d'étude|guía de estudio|guida allo studio|studiegids",
        TransformType.OUTLINE: "outline|gliederung|esquema|schema|plan détaillé",
        TransformType.REPORT: "report|bericht|rapport|informe|relatório|relazione|verslag",
    }
)
_MAKE = (
    "make|create|write|draw|build|prepare|produce|generate|erstell|mach|schreib|erzeug|fais|faire|crée|créer|rédig|"
    "haz|hacer|crea|escrib|prepar|scriv|faz|fazer|cria|maak|maken|schrijf|gib"
)
_COMPUTE = (
    r"calculate|compute|how much is|what is|what's|berechne|rechne|wie ?viel ist|was ist|calcule[rz]?|combien font|"
    r"calcula[r]?|cuánto es|calcola|quanto fa|quanto é|bereken|hoeveel is"
)
_EXPRESSION = r"[-+(\s]*\d[\d\s.,+\-*/×÷−·:()]*[\d)]"  # noqa: RUF001 - marks that people write
_CALCULATION = re.compile(rf"^\W*(?:(?:{_COMPUTE})\W*?)?\s*(?P<expression>{_EXPRESSION})\s*[=?.!]*\s*$", re.IGNORECASE)
_OPERATOR = re.compile(r"[\d)]\s*[+\-*/×÷−·:]\s*[-+(\d]")  # noqa: RUF001 - the same
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}|\d+(?:-\d+){2,}|\d+:\d+")
_MARKS = str.maketrans({"×": "*", "·": "*", "÷": "/", ":": "/", "−": "-"})  # noqa: RUF001 - the same
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)(?!\d{3}(?!\d))")
"""A comma before three figures may part thousands: whoever computes says that it cannot be read."""

_TEXT = re.compile(r"\bart_[A-Za-z0-9_-]{1,86}")
_FORMAT = re.compile(r"\b(?:markdown|text|json|csv|pdf)\b", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s<>\"'()\[\]{}]{1,2000}")


class GoalWords(Struct, frozen=True, kw_only=True):
    """What a goal asks for by its words: an expression to compute, pages that it names, and a text to make or keep.

    `share` names a kept text that is to be handed out, and in which format.
    """

    expression: str = ""
    urls: tuple[str, ...] = ()
    transform: TransformType | None = None
    save: bool = False
    share: tuple[str, str] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the words alone say what is to be done."""
        return bool(self.expression or self.urls) or self.transform is not None or self.share is not None


def read_goal(goal: str) -> GoalWords:
    """Return what the words of a goal ask for."""
    wanted = permitted(goal)
    return GoalWords(
        expression=_expression(goal),
        urls=tuple(dict.fromkeys(match[0].rstrip(".,;:!?") for match in _URL.finditer(goal))),
        transform=_transform(goal),
        save="artifact.save" in wanted,
        share=_share(goal) if "artifact.share" in wanted else None,
    )


def permitted(goal: str) -> tuple[str, ...]:
    """Return the tools that a task wants by its words."""
    words = _URL.sub(" ", goal)
    wanted = [*ALWAYS, *(["app.calculate"] if _expression(goal) else [])]
    for tools, beginnings in _WANTED.items():
        if _begins(beginnings, words):
            wanted += tools
    if _transform(goal) is not None:
        wanted += ["transform.run", "artifact.open"]
    return tuple(dict.fromkeys(wanted))


def _share(goal: str) -> tuple[str, str] | None:
    text, forms = _TEXT.search(goal), _FORMAT.findall(goal)
    return (text[0], forms[-1].lower() if forms else "markdown") if text is not None else None


def _transform(goal: str) -> TransformType | None:
    """Return the kind of text that a goal wants made: it has the kind's name, and says that it is to be made."""
    words = _URL.sub(" ", goal)
    kind = next((kind for kind, names in _TRANSFORMS.items() if _begins(names, words)), None)
    says = kind is TransformType.COMPARISON or _begins(_MAKE, words)
    return kind if says else None


def _expression(goal: str) -> str:
    """Return the expression that a goal is, or asks to compute; "" where there is none or it could be a date."""
    match = _CALCULATION.match(goal[:500])
    if match is None:
        return ""
    text = match["expression"].strip()
    if _OPERATOR.search(text) is None or _DATE.fullmatch(text):
        return ""
    return _DECIMAL_COMMA.sub(".", text.translate(_MARKS)) if "." not in text else text.translate(_MARKS)


def _begins(beginnings: str, words: str) -> bool:
    """Return whether a word begins like one of them."""
    ends = "|".join(
        re.escape(one.removesuffix("$")).replace(r"\?", "?") + (r"\b" if one.endswith("$") else "")
        for one in beginnings.split("|")
        if one
    )
    return re.search(rf"\b(?:{ends})", words, re.IGNORECASE) is not None
