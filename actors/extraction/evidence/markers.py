"""The signs by which walls are known: names in the markup, and words."""

from __future__ import annotations

import re

ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #application, #react-root, #main-app, app-root"
LOADING = re.compile(
    r"^(?:loading|please wait|wird geladen|chargement|cargando|caricamento|carregando|laden|загрузка|加载中|読み込み中)"
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
