"""Words of the applications: made up, seeded, in three languages, and different enough to be told apart."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_SENTENCES = {
    "en": (
        "The {noun} near {place} was {done} in {year}, and {people} still speak of the {noun} that it replaced.",
        "Most {people} prefer a {adjective} {noun}, because the {noun} of old days needed {number} hours of care.",
        "When {name} came to {place}, nobody had {done} a {adjective} {noun} for {number} years.",
        "It takes {number} {people} to carry a {noun}; a {adjective} one is moved by {name} alone.",
        "In {year} the council of {place} bought {number} more, though the {noun} was hardly {done} by then.",
        "A {adjective} {noun} and a {adjective} {noun} lie side by side, which is how {people} know them apart.",
        "According to {name}, who has {done} every {noun} of {place}, the {adjective} ones last longest.",
        "After {number} winters the {noun} turns {adjective}, and has to be {done} again before spring.",
        "Whoever walks from {place} towards the coast passes {number} places where a {noun} was once {done}.",
        "{name} wrote about the {adjective} {noun} at length, but left the {noun} of {place} out of the account.",
    ),
    "de": (
        "Die {noun} bei {place} wurde {year} {done}, und noch heute sprechen {people} von ihrer Vorgängerin.",
        "Als {name} nach {place} kam, hatte dort seit {number} Jahren niemand eine {noun} {done}.",
        "Viele {people} ziehen eine {adjective} {noun} vor, weil die frühere {number} Stunden Pflege brauchte.",
        "Im Jahr {year} kaufte der Rat von {place} noch {number} Stück, obwohl die {noun} kaum {done} war.",
        "Nach {number} Wintern muss eine {adjective} {noun} erneut {done} werden, meint {name}.",
        "Zwischen {place} und der Küste liegen {number} Orte, an denen eine {noun} {done} worden ist.",
        "{name} beschrieb die {adjective} {noun} ausführlich und verschwieg doch, wer sie {done} hat.",
    ),
    "ja": (
        "{place}の近くにある{noun}は{year}年に{done}され、{people}は今でもその話をしています。",
        "{name}さんが{place}に来たとき、{number}年間だれも{noun}を{done}していませんでした。",
        "多くの{people}は{adjective}{noun}を好みます。昔の{noun}は手入れに{number}時間もかかったからです。",
        "{year}年、{place}の議会は{noun}をさらに{number}個買いましたが、まだ{done}されていません。",
        "{number}回の冬を越すと{adjective}{noun}は弱くなり、春までに{done}する必要があると{name}さんは言います。",
        "{place}から海へ向かう道には、{adjective}{noun}が{done}された場所が{number}か所あります。",
    ),
}
_WORDS: dict[str, dict[str, Sequence[str]]] = {
    "en": {
        "noun": _words(
            "lighthouse harbour orchard ledger turbine violin archive glacier compass bakery railway "
            "telescope kettle mill garden bridge workshop canal lantern quarry meadow tannery ferry "
            "clock loom observatory"
        ),
        "adjective": _words(
            "quiet narrow copper northern wooden patient crooked bright hollow ancient portable steep "
            "amber careful frozen woven silent broad salted curious"
        ),
        "done": _words("restored painted measured abandoned rebuilt surveyed described sold mended opened moved lit"),
        "people": _words("sailors teachers farmers painters archivists travellers engineers bakers gardeners students"),
        "place": _words(
            "Aldermoor Brinewick Carrow Dunmere Eastlow Farholt Greyport Hallam Inverne Kestrel Lowick Marsh"
        ),
    },
    "de": {
        "noun": _words(
            "Mühle Brücke Werkstatt Laterne Fähre Uhr Bäckerei Orgel Schleuse Kapelle Turbine Scheune Quelle"
        ),
        "adjective": _words("stille schmale kupferne hölzerne alte helle steile schiefe tragbare bunte"),
        "done": _words("erneuert vermessen verkauft bemalt eröffnet beschrieben verlegt geflickt ausgebaut"),
        "people": _words("Seeleute Lehrerinnen Bauern Malerinnen Reisende Gärtner Schülerinnen Bäcker"),
        "place": _words("Altenried Birkfeld Dornau Eschbach Falkensee Grünau Hohenlinde Kirchweiler Lindau Moosbach"),
    },
    "ja": {
        "noun": _words("灯台 港 果樹園 時計 工房 橋 庭園 温泉 図書館 水車 神社 展望台 市場"),
        "adjective": _words("静かな 古い 明るい 木造の 小さな 美しい 狭い 北の 珍しい"),
        "done": _words("修理 測量 公開 移築 塗装 紹介 再建 調査"),
        "people": _words("漁師 先生 農家 画家 旅人 技師 学生 職人"),
        "place": _words("青森 松島 白川 高山 奈良 宇治 倉敷 別府 函館 金沢"),
    },
}
_NAMES = {
    "en": (
        "Ada Ben Clara Dev Elin Femi Grace Hugo Iris Jonas",
        "Abbott Brandt Castell Dower Eklund Fenn Garrow Holt Ito",
    ),
    "de": (
        "Anna Bernd Clara Dieter Eva Franz Greta Heinz Inge Jörg",
        "Ahrens Bauer Conrad Dietz Engel Fuchs Götz Huber",
    ),
    "ja": ("直樹 美咲 健太 陽子 大輔 由美 翔 彩", "佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村"),
}
_MONTHS = {
    "en": _words("January February March April May June July August September October November December"),
    "de": _words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
}
_PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "'": ""})
_FIRST = datetime(2019, 1, 7, 8, 30, tzinfo=UTC)


class Prose:
    """Draws words, always the same for a seed."""

    def __init__(self, seed: str, language: str = "en") -> None:
        self._draw = random.Random(seed)
        self._language = language

    def pick(self, *choices: str) -> str:
        """Return one of some words."""
        return self._draw.choice(choices)

    def number(self, low: int, high: int) -> int:
        """Return a number, both ends included."""
        return self._draw.randint(low, high)

    def sentence(self) -> str:
        """Return one sentence."""
        pattern = self._draw.choice(_SENTENCES[self._language])
        while "{" in pattern:
            start, _, rest = pattern.partition("{")
            what, _, end = rest.partition("}")
            pattern = start + self._word(what) + end
        return pattern[0].upper() + pattern[1:]

    def paragraph(self, sentences: int = 4) -> str:
        """Return some sentences."""
        return ("" if self._language == "ja" else " ").join(self.sentence() for _ in range(sentences))

    def paragraphs(self, low: int = 3, high: int = 5) -> list[str]:
        """Return some paragraphs, of some sentences each."""
        return [self.paragraph(self.number(3, 5)) for _ in range(self.number(low, high))]

    def title(self) -> str:
        """Return a headline."""
        noun, adjective, place = (self._word(what) for what in ("noun", "adjective", "place"))
        people, other = self._word("people"), self._word("noun")
        if self._language == "ja":
            return f"{place}の{adjective}{noun}と{other}、{people}が語る{self.number(2, 99)}のこと"
        if self._language == "de":
            return f"Die {adjective} {noun} von {place} und {self.number(2, 99)} {people} an der {other}"
        return f"How the {adjective} {noun} of {place} taught {self.number(2, 99)} {people} about a {other}"

    def name(self) -> str:
        """Return the name of a person."""
        first, last = (self._draw.choice(names.split()) for names in _NAMES[self._language])
        return f"{last}{first}" if self._language == "ja" else f"{first} {last}"

    def noun(self) -> str:
        """Return a noun."""
        return self._word("noun")

    def place(self) -> str:
        """Return the name of a place."""
        return self._word("place")

    def label(self) -> str:
        """Return two words, as tags and goods are called."""
        return f"{self._word('adjective')} {self._word('noun')}"

    def moment(self) -> datetime:
        """Return a time of some day between 2019 and 2024."""
        return _FIRST + timedelta(minutes=self.number(0, 5 * 365 * 24 * 60))

    def token(self, length: int = 8) -> str:
        """Return letters and digits, as ids of many programs are."""
        return "".join(self._draw.choice("23456789abcdefghjkmnpqrstuvwxyz") for _ in range(length))

    def _word(self, what: str) -> str:
        if what == "name":
            return self.name()
        if what in ("year", "number"):
            return str(self.number(1840, 2018) if what == "year" else self.number(3, 480))
        return self._draw.choice(_WORDS[self._language][what])


def slug_of(title: str, words: int = 6) -> str:
    """Return a title as it stands in addresses."""
    plain = title.lower().translate(_PLAIN)
    return "-".join("".join(one if one.isalnum() else " " for one in plain).split()[:words])


def iso(moment: datetime) -> str:
    """Return a time as of ISO 8601, in UTC."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def long_date(moment: datetime, language: str = "en") -> str:
    """Return a date as pages write it: May 7, 2024, or 7. Mai 2024, or 2024年5月7日."""
    if language == "ja":
        return f"{moment.year}年{moment.month}月{moment.day}日"
    month = _MONTHS[language][moment.month - 1]
    return f"{moment.day}. {month} {moment.year}" if language == "de" else f"{month} {moment.day}, {moment.year}"


def money(cents: int, language: str = "en") -> str:
    """Return an amount as shops write it: $1,299.00, or 1.299,00 €."""
    plain = f"{cents / 100:,.2f}"
    return f"{plain.translate(str.maketrans(',.', '.,'))} €" if language == "de" else f"${plain}"
