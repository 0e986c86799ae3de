"""The markers by which blockers and error pages are known: names in the markup, and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from protocol.browse import MIN_CONTENT_CHARS
from protocol.pages import ErrorPage

ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #application, #react-root, #main-app, app-root"
LOADING = re.compile(
    r"^(?:loading(?! more)|please wait|wird geladen|chargement|cargando|caricamento|carregando|laden|загрузка"
    r"|加载中|読み込み中)"
    r"[\w ]{0,20}[ .…]*$"
)
SKELETON = ("skeleton", "shimmer", "placeholder-glow", "content-loader")
SPINNER = ("spinner", "loader", "loading")
WANTS_SCRIPT = re.compile(
    r"(?:enable|activate|allow|requires?|needs?|turn on)[^.<]{0,60}javascript"
    r"|javascript[^.<]{0,60}(?:enabled|required|disabled|turned off|to be on|to run|aktivieren|aktiviert)"
)

# Only a challenge has these: the platform's script alone (`challenge-platform/scripts`) is on ordinary pages, too.
SURE = (
    ("cf-chl", ("_cf_chl_opt", "cf-chl-", "cf_chl_tk", "cf_chl_rc", "cf_chl_prog", "cf-browser-verification")),
    ("challenge-platform", ("/cdn-cgi/challenge-platform/h/",)),
    ("datadome", ("captcha-delivery.com",)),
    ("perimeterx", ("px-captcha",)),
    ("akamai", ("sec-if-cpt-container", "bm-verify=", "/_sec/cp_challenge/")),
    ("ddos-guard", ("ddos-guard/js-challenge", "/.well-known/ddos-guard/")),
)
# These stand on ordinary pages, too: in a contact form, in an article about them. They count where there is no content.
MAYBE = (
    ("turnstile", re.compile(r"challenges\.cloudflare\.com/turnstile|cf-turnstile")),
    (
        "captcha",
        re.compile(r"(?:google|recaptcha)\.(?:com|net)/recaptcha|hcaptcha\.com|g-recaptcha|arkoselabs\.com|geetest"),
    ),
    ("datadome", re.compile(r"datadome")),
    ("perimeterx", re.compile(r"perimeterx|/px/client/|_pxappid")),
    ("akamai", re.compile(r"reference&#32;&#35;|reference #[0-9a-f]{1,4}\.[0-9a-f]{6,}|errors\.edgesuite\.net")),
    ("imperva", re.compile(r"_incapsula_resource|incapsula incident id")),
    ("aws-waf", re.compile(r"awswaf\.com|awswafintegration")),
    ("just a moment", re.compile(r"just a moment|einen moment|un momento")),
    (
        "checking your browser",
        re.compile(r"checking your browser|verifying your browser|checking if the site connection"),
    ),
    (
        "human check",
        re.compile(
            r"(?:verify|confirm|prove)[^.<]{0,30}(?:you are|you're) (?:a )?(?:human|not a robot)"
            r"|pardon our interruption"
        ),
    ),
)

CONSENT = (
    *("onetrust", "cookiebot", "didomi", "usercentrics", "sp_message_container", "qc-cmp2", "truste"),
    *("cookie-consent", "cookieconsent", "cookie-banner", "cookiebanner"),
)
CONSENT_STEMS = re.compile(
    r"cookie|consent|privacy|datenschutz|einwillig|zustimm|akzeptier|partner|personal data|personenbezogen|gdpr|dsgvo"
    r"|accept all|reject all|alle ablehnen|données personnelles|consentement|confidentialité|privacidad|consentimiento"
    r"|aceptar|rechazar|consenso|privacidade|prywatno|toestemming|advertis|werbung|publicité|publicidad"
    r"|legitimate interest|we use|wir verwenden|nous utilisons|utilizamos|utilizziamo|używamy|personali[sz]ed"
)
CONSENT_BUTTONS = re.compile(
    r"accept (?:all|cookies)|agree|reject all|consent|manage (?:options|preferences)|akzeptieren|zustimmen"
    r"|einverstanden|accepter|aceptar|accetta|aceitar|akceptuj|accepteren|godkänn|continue without"
)
ABOUT_PRIVACY = re.compile(r"cookie|privacy|datenschutz|confidentialité|privacidad|gdpr|dsgvo|consent")
PAYWALL = re.compile(r"(?:subscribe|sign in|log in|register)[^.<]{0,40}(?:to (?:continue|keep|read)|for full access)")
LOGIN_PART = re.compile(
    r"(?:(?:please )?(?:log ?in|sign ?in)(?: (?:to|with|or|required|page)\b.*)?|login required"
    r"|you must (?:log|sign) in.*"
    r"|(?:bitte )?(?:anmelden|einloggen)|anmeldung|(?:se )?connecter|connexion|iniciar sesión|inicia sesión|accedi"
    r"|entrar|fazer login|inloggen|logga in|log ind|logg inn|zaloguj się|logowanie|přihlášení|войти|вход|авторизация"
    r"|登录|登入|ログイン|로그인)(?: [-|·] .*)?"
)
ASIDE = "header, nav, footer, aside, dialog, [role=dialog i], [class*=modal i], [class*=popup i], [class*=offcanvas i]"
"""Where a login form waits to be asked for."""

AGE = ("age-gate", "age_gate", "age-verification", "age_verification")
AGE_WORDS = re.compile(r"are you (?:over|at least) (?:18|21)")
GEO = re.compile(r"not available in your (?:country|region|location)")
ERROR_PATH = re.compile(r"/(?:404|not[-_]?found|page[-_]?not[-_]?found|error[-_]?404)(?:\.\w{2,5})?/?$", re.IGNORECASE)

THIN_CHARS = 1_000
"""A page with more text than this is a page, whatever its headline says."""

_OPENING_CHARS = 400

_SEPARATOR = re.compile(r"\s+[-\u2013\u2014]\s+|\s*[|\u00b7\u2022\u00bb:]\s*|[.!?\u2026]+(?:\s+|$)|\s*,\s+")

# ruff: noqa: RUF001 - words of other languages
_NOT_FOUND_PART = re.compile(
    r"(?:(?:http|status|code|error|erreur|fehler|errore|erro|fout|fel|fejl|chyba|hata|ошибка|błąd|hiba|virhe)[ -]*)*"
    r"(?:404|410)(?:[ -]*(?:error|fehler|fout|fel|page|seite|not found|page not found|file not found|gone))?"
    r"|(?:(?:page|file|content|object|resource|document) )?not found|(?:nothing|no page|no results?) found"
    r"|(?:seite |datei |inhalt )?nicht gefunden|(?:page )?introuvable|(?:página )?no encontrad[oa]"
    r"|(?:página )?não encontrad[oa]|(?:pagina )?non trovat[oa]|(?:pagina )?niet gevonden|nie znaleziono"
    r"|hittades inte|ikke funnet|ikke fundet|ei löytynyt|bulunamad\u0131|не найден[оа]?|не знайдено|δεν βρέθηκε"
    r"|404 ?(?:页面|頁面|エラー|오류)"
)
"""A whole part of a headline: `404` alone, but not the 404 of `Peugeot 404`."""

_NO_SUCH_PAGE = re.compile(
    r"(?:page|document|file|link|url|article|content) (?:(?:that )?you(?:'ve|'re| have| are| were)? "
    r"(?:requested|followed|looking for|trying to (?:reach|view|access|open)) )?"
    r"(?:(?:was|is|has|could|can) ?(?:not|n't)(?: be(?:en)?)? (?:found|located)|cannot be found|can't be found"
    r"|does(?:n't| not) exist|(?:is not|isn't|is no longer|no longer) available|no longer exists"
    r"|(?:has been|was|may have been|might have been) (?:re)?moved|has been (?:deleted|removed))"
    r"|page not found|(?:couldn't|can't|cannot|could not|unable to|can not) find "
    r"(?:that|this|the|your|a) (?:page|url|link)"
    r"|(?:the|this) page (?:you|that you) (?:are|were) looking for"
    r"|seite (?:wurde |konnte |ist )?(?:leider )?nicht (?:gefunden|vorhanden|verfügbar|mehr verfügbar)"
    r"|seite existiert (?:leider )?nicht|seite,? die sie (?:suchen|gesucht haben|aufgerufen haben)"
    r"|page (?:introuvable|non trouvée|demandée (?:n'existe|est introuvable)|n'existe (?:pas|plus))"
    r"|página (?:no (?:encontrada|existe|disponible|se encuentra)|não (?:encontrada|existe|foi encontrada))"
    r"|no (?:se (?:encontró|ha encontrado)|hemos encontrado|podemos encontrar) la página"
    r"|pagina (?:non (?:trovata|esiste|disponibile)|niet gevonden|bestaat niet|nu (?:a fost găsită|există))"
    r"|sidan (?:hittades inte|kunde inte hittas|finns inte)"
    r"|siden (?:blev ikke fundet|ble ikke funnet|finnes ikke|findes ikke)"
    r"|sivua ei löy(?:dy|tynyt)|nie znaleziono strony|strona nie (?:istnieje|została znaleziona)"
    r"|stránk[au] (?:nenalezena|nebyla (?:nalezena|nájdená)|neexistuje|sa nenašla)"
    r"|stranica ne postoji|stran ni bila najdena"
    r"|sayfa bulunamad\u0131|az oldal nem található|lapa nav atrasta|puslapis nerastas|lehte ei leitud"
    r"|страница не (?:найдена|существует)|сторінку не знайдено|страницата не е намерена|η σελίδα δεν βρέθηκε"
    r"|الصفحة غير موجودة|صفحه (?:مورد نظر )?(?:یافت|پیدا) نشد|הדף לא נמצא|không tìm thấy trang|halaman tidak ditemukan"
    r"|ページ(?:が|は)見つかりません|(?:页面|頁面|网页|網頁)(?:不存在|未找到|找不到)|找不到(?:页面|頁面|网页|網頁)"
    r"|페이지를 찾을 수 없습니다|ไม่พบหน้า"
)

_SERVER_ERROR_PART = re.compile(
    r"(?:(?:error |http )*50\d ?)?(?:internal server error|application error|server error|bad gateway|serverfehler"
    r"|gateway time-?out|service (?:temporarily )?unavailable|erreur (?:interne )?du serveur|error interno del servidor"
    r"|interner serverfehler)|(?:error|http|fehler|erreur)(?: code)? 50\d|50\d"
)
_SERVER_ERROR_WORDS = (
    "application error: a client-side exception has occurred",
    "application error: a server-side exception has occurred",
    "error establishing a database connection",
    "could not connect to the database",
    "you have an error in your sql syntax",
    "sqlstate[",
    "fatal error: uncaught",
    "an error occurred in the application and your page could not be served",
)
_DEFAULT_PAGE = re.compile(
    r"welcome to (?:nginx|openresty|caddy)!?|apache2? .*default page.*|iis windows(?: server)?|it works!?"
    r"|(?:test page for the )?(?:apache )?http server test page.*|test page for the .*http server.*"
    r"|(?:default|plesk|cpanel) (?:web ?site|server|obsidian) .*page"
)


def error_page(headlines: Sequence[str], words: str, length: int) -> ErrorPage | None:
    """Return which error a page says it is: `headlines` are its title and headings, `words` what it opens with.

    `length` counts the characters of its content.
    """
    lines = [folded(headline) for headline in headlines if headline]
    if any(_DEFAULT_PAGE.fullmatch(line) for line in lines):
        return ErrorPage.SERVER_ERROR
    if length >= THIN_CHARS:
        return None
    parts = [part for line in lines for part in _parts(line)]
    opening = folded(words[:_OPENING_CHARS]) if length < MIN_CONTENT_CHARS else ""
    if any(_NOT_FOUND_PART.fullmatch(part) for part in parts) or _speaks(_NO_SUCH_PAGE, (*lines, opening)):
        return ErrorPage.NOT_FOUND
    broken = length < MIN_CONTENT_CHARS and (
        any(_SERVER_ERROR_PART.fullmatch(part) for part in parts)
        or any(sign in line for sign in _SERVER_ERROR_WORDS for line in (*lines, opening))
    )
    return ErrorPage.SERVER_ERROR if broken else None


def folded(text: str) -> str:
    """Fold case, apostrophes and spaces, as the patterns expect."""
    return " ".join(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("\\", "").casefold().split())


def _parts(line: str) -> Iterable[str]:
    return (part.strip(" '\"()[]") for part in (line, *_SEPARATOR.split(line)) if part.strip())


def _speaks(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.search(text) for text in texts)
