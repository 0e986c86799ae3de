"""Pages that are answered with status 200 in place of what was asked for, and pages that only look like them."""

# ruff: noqa: E501, ISC004 - a page a line
from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.site.answers import Answer, Ask, text


def _page(title: str, content: str, *, language: str = "en", chrome: bool = True) -> str:
    menu = "<header><nav><a href='/news'>News</a> <a href='/shop'>Shop</a> <a href='/team'>Team</a></nav></header>"
    foot = "<footer><p>Weavers of the valley, 12 Mill Lane</p></footer>"
    before, after = (menu, foot) if chrome else ("", "")
    style = "<link rel=stylesheet href=/site.css>"
    return (
        f"<!doctype html><html lang={language}><head><title>{title}</title>{style}</head>"
        f"<body>{before}<main>{content}</main>{after}</body></html>"
    )


_ARTICLE = "".join(
    f"<p>{line}</p>"
    for line in (
        "When a server cannot find what a browser asks for, it answers with the number 404, and most sites add a page of "
        "their own to it. Such pages have a history that is older than many of their readers.",
        "The first ones were a line of text. Later designers found that a joke keeps visitors longer than an apology, "
        "and drew lost astronauts, empty shelves and sleeping cats.",
        "A good message says what happened, offers a search field, and leads back to the home page. A bad one says "
        "“page not found” and nothing else, or worse, pretends that all is well and answers with 200.",
        "We asked four shops how often customers see theirs. The answers lay between one and three visits in a hundred, "
        "and nearly all of these began at an old address in a newsletter.",
    )
)

STAND_INS: Mapping[str, tuple[str, str]] = {
    "not_found.de": ("HTTP_NOT_FOUND", _page("Seite nicht gefunden", "<h1>Seite nicht gefunden</h1><p>Die gesuchte Seite existiert leider nicht mehr. Vielleicht hilft die Suche weiter.</p>", language="de")),
    "not_found.ja": ("HTTP_NOT_FOUND", _page("ページが見つかりません", "<h1>404</h1><p>お探しのページは見つかりませんでした。削除されたか、アドレスが変更された可能性があります。</p>", language="ja")),
    "not_found.ru": ("HTTP_NOT_FOUND", _page("Ошибка 404", "<h1>Страница не найдена</h1><p>Такой страницы не существует. Вернитесь на главную.</p>", language="ru")),
    "server_error.fr": ("HTTP_SERVER_ERROR", _page("Erreur 500", "<h1>Erreur interne du serveur</h1><p>Une erreur est survenue. Veuillez réessayer plus tard.</p>", language="fr", chrome=False)),
    "maintenance.es": ("HTTP_SERVICE_UNAVAILABLE", _page("En mantenimiento", "<h1>Sitio en mantenimiento</h1><p>Estamos mejorando nuestro sitio. Volveremos pronto.</p>", language="es", chrome=False)),
    "maintenance.zh": ("HTTP_SERVICE_UNAVAILABLE", _page("系统维护中", "<h1>系统维护中</h1><p>网站正在维护，请稍后再试，给您带来不便敬请谅解。</p>", language="zh", chrome=False)),
    "forbidden.pl": ("HTTP_FORBIDDEN", _page("Odmowa dostępu", "<h1>Dostęp zabroniony</h1><p>Nie masz uprawnień do wyświetlenia tej strony.</p>", language="pl", chrome=False)),
    "rate_limited.en": ("BLOCKED_RATE_LIMITED", _page("Too many requests", "<h1>Too many requests</h1><p>You have made too many requests in a short time. Please slow down and try again in 60 seconds.</p>", chrome=False)),
    "geo_blocked.it": ("BLOCKED_GEO_RESTRICTED", _page("Non disponibile", "<h1>Contenuto non disponibile nel tuo paese</h1><p>Per motivi legali questo contenuto non è disponibile nella tua regione.</p>", language="it")),
    "challenge.pt": ("BLOCKED_BOT_DETECTION", _page("Verificação de segurança", "<h1>Verifique se você é humano</h1><p>Verificando seu navegador antes de continuar. Confirme que não é um robô.</p>", language="pt", chrome=False)),
    "age_gate.en": ("CONTENT_AGE_RESTRICTED", _page("Age verification", "<h1>Are you over 18?</h1><p>You must be of legal drinking age to enter this site. Please confirm your age.</p><button>Yes, I am over 18</button><button>No</button>", chrome=False)),
    "consent_wall.nl": ("CONTENT_CONSENT_REQUIRED", _page("Uw privacy", "<h1>Wij en onze partners gebruiken cookies</h1><p>Geef toestemming om cookies te accepteren. Wij gebruiken cookies voor advertenties. Uw privacy is belangrijk voor ons.</p><button>Alles accepteren</button><button>Alles weigeren</button>", language="nl", chrome=False)),
    "login_wall.sv": ("AUTH_MISSING_SESSION", _page("Logga in", "<h1>Logga in för att fortsätta</h1><p>Du måste vara inloggad. Har du inget konto?</p><form method=post><input type=email name=mail><input type=password name=word><button>Logga in</button></form><a href='/f'>Glömt lösenord</a>", language="sv", chrome=False)),
    "paywall.en": ("CONTENT_PAYWALLED", _page("The mill at dusk", "<h1>Subscribe to continue reading</h1><p>This article is for subscribers only. Become a member for unlimited access. Already a subscriber?</p><button>Subscribe</button>")),
    "parked.en": ("SITE_PARKED", _page("weaving.example", "<h1>weaving.example is for sale</h1><p>This domain is parked. Buy this domain or make an offer. Related searches:</p><ul><li><a href='/1'>Looms</a><li><a href='/2'>Yarn</a></ul>", chrome=False)),
    "coming_soon.tr": ("SITE_NOT_READY", _page("Çok yakında", "<h1>Yapım aşamasında</h1><p>Yeni sitemiz çok yakında burada. Hazırlanıyor.</p>", language="tr", chrome=False)),
    "suspended.en": ("SITE_SUSPENDED", _page("Account suspended", "<h1>This account has been suspended</h1><p>Please contact your hosting provider or billing for more information.</p>", chrome=False)),
    "default_server_page.en": ("SITE_NOT_CONFIGURED", _page("Welcome to nginx!", "<h1>Welcome to nginx!</h1><p>If you see this page, the web server is successfully installed. Further configuration is required.</p>", chrome=False)),
}  # fmt: skip
"""By name: the code that each is refused with, and the page."""

LOOKALIKES: Mapping[str, str] = {
    "history-of-404-pages": _page("A short history of “page not found”", f"<article><h1>A short history of “page not found”</h1><p>12 May 2024, by Anna Weber</p>{_ARTICLE}</article>"),
    "wartung-der-heizung": _page("Wartung der Heizung: was im Herbst zu tun ist", "<article><h1>Wartung der Heizung: was im Herbst zu tun ist</h1><p>Vor dem ersten Frost sollte jede Heizung gewartet werden. Der Installateur prüft den Druck, entlüftet die Heizkörper und reinigt den Brenner. Die Kosten liegen zwischen 120 und 180 Euro, und wer einen Vertrag hat, zahlt weniger.</p><p>Zwischen den Terminen genügt ein Blick auf das Manometer. Fällt der Druck unter ein Bar, wird Wasser nachgefüllt.</p></article>", language="de"),
    "opening-hours": _page("Opening hours", "<h1>Opening hours</h1><p>Our shop is open on Monday to Friday from nine to six, and on Saturday until noon.</p>"),
    "notre-equipe": _page("Notre équipe", "<h1>Notre équipe</h1><p>Claire dirige l'atelier depuis 2009 ; Paul teint la laine et répond au téléphone.</p>", language="fr"),
    "recette-de-soupe": _page("Soupe de lentilles", "<h1>Soupe de lentilles</h1><p>Faire revenir un oignon, ajouter deux verres de lentilles et un litre d'eau, puis laisser cuire quarante minutes.</p>", language="fr"),
}  # fmt: skip
"""By the end of their address: pages that are short, or that write about errors."""


VAGUE = _page(
    "Weavers of the valley",
    "<h1>Hello</h1><p>Some things are gone, and much is new. Our weavers make cloth and rugs in the mill at the river.</p>",
)
"""A page of which nobody can say by itself whether it is the one that was asked for."""


def _vague(ask: Ask) -> Answer:
    """Answer /vague/everywhere with that page whatever follows, and /vague/once for the address /vague/once/page."""
    return text(VAGUE) if ask.rest.startswith("everywhere/") or ask.rest == "once/page" else _absent()


def _stand_in(ask: Ask) -> Answer:
    page = STAND_INS.get(ask.rest)
    return _absent() if page is None else text(page[1])


def _lookalike(ask: Ask) -> Answer:
    page = LOOKALIKES.get(ask.rest)
    return _absent() if page is None else text(page)


def _absent() -> Answer:
    return text(_page("404", "<h1>404</h1><p>No such page.</p>"), status=404)


STAND_IN_ROUTES: tuple[tuple[str, Callable[[Ask], Answer]], ...] = (
    ("/stand-in", _stand_in),
    ("/lookalike", _lookalike),
    ("/vague", _vague),
)
