"""What documents and the user have text, in a form that words of a call are found in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import Struct, structs

from actors.fields.normalisation import folded, has_cjk, visible
from actors.policy.addresses import Address, addresses_in, hosts_in, parsed
from actors.policy.decoding import MAX_FORMS, from_base64
from actors.policy.lexicons import computing, generic_words, search_words, speaks_to_models, tools_named
from protocol.documents import CollectionIndex, Content, ExtractedLink

_SECRET_CHARS: Final = 6
_PART_OF_SECRET: Final = 5
_CJK_WEIGHT: Final = 0.5
"""What a Chinese or Japanese character counts as a word."""

_SECRET: Final = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"  # an address of mail
    r"|(?<![\w-])(?=[\w-]{0,120}\d)(?=[\w-]{0,120}[A-Za-z])[\w-]{6,128}(?![\w-])"  # letters and digits in one
    r"|(?<![\w.])\+?\d(?:[\s().-]?\d){5,24}(?![\w])"  # a number of six digits and more
)
_LABELLED: Final = re.compile(
    r"(?i)(?:password|passwort|passcode|passphrase|kennwort|mot de passe|contraseña|wachtwoord|hasło|senha|пароль|"
    r"api[ _-]?key|secret|token|pin|code(?:name|word)?|geheimnis|schlüssel|パスワード|暗証番号|密码|口令)"
    r"(?:\s{0,3}(?:[:=\uff1aは为是]|\s(?:is|was|ist|lautet|est|es|è|é|jest)\s)\s{0,3}|\s{1,3}(?=\S{0,64}\d))"
    r"[\"'`“«]?([^\s\"'`”»<>,;]{4,128})"
)
_DATA_DIGITS: Final = 4
_MARKED: Final = re.compile(r"\]\(\s{0,4}<?(https?://[^\s)>]{1,2048})", re.IGNORECASE)
_OPEN: Final = "\"\u201c\u201e\u00ab'\u2018\u201a`\u300c\u300e"
_CLOSE: Final = "\"\u201d\u201c\u00bb'\u2019`\u300d\u300f"
_QUOTED: Final = re.compile(rf"[{_OPEN}](?! )([^{_OPEN}{_CLOSE}\n]{{3,200}})[{_CLOSE}]")
_MAX_QUOTED: Final = 400
_BEFORE_CHARS: Final = 60


class SharedWords(Struct, frozen=True):
    """Words in a row that a document has too: the text, and how many that are not the user's."""

    text: str = ""
    words: float = 0.0


class UserSpeech(Struct, frozen=True):
    """What the user has said."""

    tokens: frozenset[str]
    text: str
    squeezed: str
    hosts: frozenset[str]
    addresses: frozenset[str]

    @classmethod
    def of(cls, text: Sequence[str]) -> UserSpeech:
        """Read what the user has said."""
        text = "\n".join(text)
        addresses = tuple(addresses_in(text))
        sites = frozenset(address.site for address in addresses)
        normal = frozenset(address.normal for address in addresses)
        return cls(frozenset(tokens_of(text)), folded(text), squeezed(text), hosts_in(text) | sites, normal)

    def names(self, address: Address) -> bool:
        """Whether the user has named this very address."""
        return address.normal in self.addresses or (not address.data and self.knows(address.site))

    def knows(self, site: str) -> bool:
        """Whether the user has named a host of a site."""
        return any(host == site or host.endswith(f".{site}") for host in self.hosts)

    @property
    def wants_computing(self) -> bool:
        """Whether the user wants something computed."""
        return computing().search(self.text) is not None

    def knowing(self, documents: Sequence[DocumentWords]) -> UserSpeech:
        """Return it with the words of documents that tell nothing to whoever gets them."""
        return structs.replace(self, tokens=self.tokens.union(*(one.tokens for one in documents)))

    def has(self, token: str) -> bool:
        """Whether a word is the user's, in whatever form of it."""
        return token in self.tokens or (len(token) > 3 and any(_akin(token, one) for one in self.tokens))  # noqa: PLR2004 - shorter words have no forms

    def has_text(self, text: str) -> bool:
        """Whether the user has said that, however it is spaced."""
        short = squeezed(text)
        return bool(short) and short in self.squeezed

    def owns_all(self, tokens: Sequence[str]) -> bool:
        """Whether all words are the user's."""
        return all(self.has(token) for token in tokens)

    def owns_any(self, tokens: Sequence[str]) -> bool:
        """Whether a word that says something is the user's."""
        return any(self.has(token) for token in tokens if token not in generic_words())


class DocumentWords(Struct, frozen=True):
    """What a document says: its words, pairs of them, what looks secret, its links."""

    doc_id: str
    host: str
    site: str
    tokens: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    text: str
    """Its words with one blank between."""

    secrets: tuple[tuple[str, str], ...]
    """What looks secret: as it is found in squeezed text, and as it stands there."""

    links: frozenset[str]
    hosts: frozenset[str]
    quoted: frozenset[str]
    tools: frozenset[str]
    """The tools that it names."""

    shown: str
    speaks_to_models: bool

    def secret_in(self, text: str, user: UserSpeech) -> str:
        """Return what looks secret in the document and stands in a text too; "" for nothing."""
        short = squeezed(text)
        for secret, shown in self.secrets:
            if secret in short and not user.has_text(shown):
                return shown
        parts = [part for part in (squeezed(one) for one in text.split()) if len(part) >= _PART_OF_SECRET]
        digits = [part for part in parts if any(one.isdigit() for one in part)]
        for secret, shown in self.secrets:
            if any(part in secret for part in digits) and not user.has_text(shown):
                return shown
        return ""

    def holds_beside(self, secret: str, normal: str) -> bool:
        """Whether something that looks secret stands elsewhere than in the address itself."""
        return self.text.count(folded(secret)) > folded(normal).count(folded(secret))

    def longest_run(self, tokens: Sequence[str], user: UserSpeech) -> SharedWords:
        """Return the most words in a row that the document has in this row too and the user does not have."""
        best, start = SharedWords(), 0
        for at in range(len(tokens) + 1):
            is_end = at == len(tokens) or tokens[at] not in self.tokens
            if is_end or (at > start and (tokens[at - 1], tokens[at]) not in self.pairs):
                best = max(best, _run(tokens[start:at], user), key=lambda run: run.words)
                start = at + 1 if is_end else at
        return best

    def says(self, tokens: Sequence[str]) -> bool:
        """Whether the document says that, word for word, and it is more than one word."""
        return len(tokens) > 1 and f" {' '.join(tokens)} " in self.text

    def wants_searched(self, tokens: Sequence[str]) -> bool:
        """Whether the document has these words in quotes, or after a word for searching."""
        words = " ".join(tokens)
        return (
            words in self.quoted
            or re.search(rf"(?:{search_words()})(?: \w+){{0,3}} {re.escape(words)}", self.text) is not None
        )

    def wants_computed(self, expression: str) -> bool:
        """Whether the document has an expression, sign by sign, behind a word for computing."""
        signs = r"[\s\\]{0,3}".join(re.escape(one) for one in expression if not one.isspace())
        match = re.search(signs, self.shown)
        if match is None:
            return False
        return computing().search(folded(self.shown[: match.start()][-_BEFORE_CHARS:])) is not None

    def mentions_host(self, address: Address) -> bool:
        """Whether the document names the host of an address."""
        return address.host in self.hosts or address.site in self.hosts


def read_document(doc_id: str, content: Content) -> DocumentWords:
    """Read a document; what was read before is known."""
    url = "" if isinstance(content, CollectionIndex) else content.url
    address = parsed(url)
    host, site = (address.host, address.site) if address is not None else ("", "")
    links = (url, *(link.url for link in _links(content))) if url else tuple(link.url for link in _links(content))
    words = _words(_text_of(content), links)
    return DocumentWords(doc_id, host, site, *words)


def tokens_of(text: str) -> tuple[str, ...]:
    """Return the words of a text; characters of scripts without blanks one by one."""
    words = folded(text)
    if not has_cjk(words):
        return tuple(words.split())
    tokens = list[str]()
    for word in words.split():
        tokens += list(word) if has_cjk(word) else [word]
    return tuple(tokens)


def squeezed(text: str) -> str:
    """Return the letters and digits of a text, small, without what is between."""
    return folded(text).replace(" ", "")


# -- how documents are read --------------------------------------------------------------------------------------------


def _links(content: Content) -> tuple[ExtractedLink, ...]:
    match content:
        case CollectionIndex():
            return tuple(ExtractedLink(url=one.url, text=one.title) for one in content.sources)
        case _:
            links: tuple[ExtractedLink, ...] = getattr(content, "extracted_links", ())
            parts = getattr(content, "parts", None)
            return (*links, *parts.navigation) if parts is not None else links


def _text_of(content: Content) -> str:
    links = "\n".join(f"{link.text}\n{link.context}" for link in _links(content))
    match content:
        case CollectionIndex():
            return f"{content.title}\n{links}"
        case _ if not content.url:  # what a tool has answered, under a heading of ours that names the tool
            return content.markdown.removeprefix(f"# {content.title}")
        case _:
            text = getattr(content, "text", "")
            return f"{content.title}\n{content.markdown}\n{text if isinstance(text, str) else ''}\n{links}"


@lru_cache(maxsize=256)
def _words(
    text: str, links: tuple[str, ...]
) -> tuple[
    frozenset[str],
    frozenset[tuple[str, str]],
    str,
    tuple[tuple[str, str], ...],
    frozenset[str],
    frozenset[str],
    frozenset[str],
    frozenset[str],
    str,
    bool,
]:
    text = "\n".join((text, *from_base64(text)[:MAX_FORMS]))
    tokens = tokens_of(text)
    shown = visible(text)
    linked = [address for url in links if (address := parsed(url)) is not None]
    linked += (address for link in _MARKED.findall(text) if (address := parsed(link)) is not None)
    match = [one[0] for one in _SECRET.finditer(shown)] + [one[1] for one in _LABELLED.finditer(shown)]
    secrets = {short: one for one in match if len(short := squeezed(one)) >= _DATA_DIGITS and _is_telling(one)}
    return (
        frozenset(tokens),
        frozenset(pairwise(tokens)),
        f" {' '.join(tokens)} ",
        tuple(sorted(secrets.items(), key=lambda one: -len(one[0]))),
        frozenset(address.normal for address in linked),
        hosts_in(text) | frozenset(address.host for address in linked),
        frozenset(" ".join(tokens_of(one)) for one in _QUOTED.findall(shown)[:_MAX_QUOTED]),
        tools_named(shown),
        shown,
        speaks_to_models(folded(text), shown),
    )


def _is_telling(text: str) -> bool:
    """Whether something that looks secret is more than a word of everybody's or a year."""
    words = folded(text).split()
    return not all(word in generic_words() for word in words) and not re.fullmatch(r"(?:1[89]|20)\d\d", text)


def _run(tokens: Sequence[str], user: UserSpeech) -> SharedWords:
    weight = 0.0
    for token in tokens:
        if has_cjk(token):
            weight += 0 if token in user.tokens else _CJK_WEIGHT
        elif len(token) > 3 or (token.isdigit() and len(token) >= _DATA_DIGITS):  # noqa: PLR2004 - shorter words bind others
            weight += 0 if token in generic_words() or user.has(token) else 1
    return SharedWords(" ".join(tokens), weight)


def _akin(one: str, other: str) -> bool:
    """Whether two words are forms of one: laptop, laptops."""
    short, long = sorted((one, other), key=len)
    if len(short) <= 3 or len(long) - len(short) > 3:  # noqa: PLR2004 - an ending has three letters at most
        return False
    return long.startswith((short, short[:-1]))
