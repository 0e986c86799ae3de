"""The language of a page, by what it says of itself and by its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.decide.language import language
from protocol.confidence import Source

SENTENCES = {
    "en": "The shuttle carries the weft through the shed of the warp.",
    "de": "Das Schiffchen trägt den Schuss durch das Fach der Kette.",
    "fr": "La navette porte la trame à travers la foule de la chaîne.",
    "es": "La lanzadera lleva la trama a través de la calada y vuelve.",
    "pt": "A lançadeira leva a trama pela cala e não para até ao fim.",
    "it": "La navetta porta la trama attraverso il passo e poi torna.",
    "nl": "De schietspoel draagt de inslag door de sprong van het weefsel.",
    "sv": "Skytteln bär inslaget genom skälet och sedan är det klart.",
    "da": "Skytten bærer islætten gennem skellet, og så er det ikke mere.",
    "no": "Skyttelen bærer innslaget gjennom skillet, og så er det ikke mer.",
    "fi": "Sukkula kuljettaa kuteen loimen läpi, ja sitten se on valmis.",
    "pl": "Czółenko niesie wątek przez przesmyk, a potem wraca do nas.",
    "cs": "Člunek nese útek prošlupem a potom se zase vrátí, když může.",
    "sk": "Člnok nesie útok cez zjavu a potom sa zase vráti, keď môže.",
    "hu": "A vetélő viszi a vetüléket a szádnyíláson át, és utána vissza.",
    "ro": "Suveica poartă bătătura prin rost și apoi se întoarce la noi.",
    "tr": "Mekik atkıyı ağızlıktan geçirir ve sonra geri döner, bu kadar.",
    "ru": "Челнок проносит уток через зев, и это всё, что он делает.",
    "uk": "Човник проносить уток через зів, і це все, що він робить.",
    "bg": "Совалката пренася вътъка през зева и това е всичко, което прави.",
    "ar": "المكوك يحمل اللحمة من خلال النفس ثم يعود إلى مكانه",
    "fa": "ماکو پود را از میان دهنه می‌برد و این همه کار آن است",
    "el": "Η σαΐτα περνά το υφάδι μέσα από το στημόνι.",
    "he": "הבוכיאר נושא את הערב דרך השתי",
    "ja": "杼が緯糸を経糸の間に通していきます。",
    "zh": "梭子带着纬纱穿过经纱之间。",
    "ko": "북이 씨실을 날실 사이로 나른다.",
    "th": "กระสวยพาเส้นพุ่งผ่านเส้นยืน",
    "hi": "शटल बाने को ताने के बीच से ले जाती है",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_a_sentence_is_enough(code: str, text: str) -> None:
    assert language("", text)[0] == code


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("de-AT", SENTENCES["de"], "de-AT"),
        ("de_at", SENTENCES["de"], "de-AT"),
        ("zh-hant-tw", SENTENCES["zh"], "zh-Hant-TW"),
        ("nb", SENTENCES["no"], "nb"),
        ("en-US", SENTENCES["de"] * 3, "de"),
        ("en-US", "", "en-US"),
        ("en-US", "42 — 17", "en-US"),
        ("sv", "Loom 9000 Pro", "sv"),
        ("", "42 — 17", ""),
        ("english", SENTENCES["en"], "en"),
        ("x" * 5_000, "", ""),
    ],
)
def test_what_is_declared_is_believed_unless_the_words_refute_it(declared: str, text: str, expected: str) -> None:
    assert language(declared, text)[0] == expected


def test_an_address_tips_the_scales() -> None:
    assert language("", "Kontakt 2024", "https://a.example/de/x")[0] == "de"


@pytest.mark.parametrize(
    ("declared", "text", "source", "at_least", "at_most"),
    [
        ("de", SENTENCES["de"], Source.META_TAGS, 0.95, 1.0),
        ("", SENTENCES["de"] * 3, Source.HEURISTIC, 0.95, 1.0),
        ("", "Loom", Source.HEURISTIC, 0.0, 0.9),
        ("de", "", Source.META_TAGS, 0.9, 0.95),
        ("", "", Source.UNKNOWN, 0.0, 0.0),
    ],
)
def test_how_sure_it_is(declared: str, text: str, source: Source, at_least: float, at_most: float) -> None:
    _, sure = language(declared, text)

    assert sure.source is source
    assert at_least <= sure.score <= at_most


@given(st.text(max_size=20), st.text(max_size=300), st.text(max_size=60))
def test_nothing_raises(declared: str, text: str, url: str) -> None:
    code, sure = language(declared, text, url)

    assert (sure.score > 0) is bool(code)
