"""Pages that say that they are an error, and pages that only speak of one."""

from __future__ import annotations

import pytest

from actors.extraction.evidence.markers import error_page
from protocol.pages import ErrorPage


@pytest.mark.parametrize(
    "headline",
    [
        "404",
        "404 Not Found",
        "404: Not Found",
        "Error 404",
        "HTTP 404 error",
        "Not Found",
        "Page not found | Example",
        "Example \N{EN DASH} 404",
        "404: This page could not be found",
        "Oops! That page can\N{RIGHT SINGLE QUOTATION MARK}t be found.",
        "Sorry, we couldn't find that page",
        "The page you're looking for doesn't exist",
        "The page you requested has been removed",
        "410 Gone",
        "Seite nicht gefunden - Beispiel",
        "Fehler 404",
        "Die Seite, die Sie suchen, gibt es nicht mehr",
        "Page introuvable",
        "Erreur 404",
        "Página no encontrada",
        "Página não encontrada",
        "Pagina non trovata",
        "Pagina niet gevonden",
        "Sidan kunde inte hittas",
        "Sivua ei löytynyt",
        "Nie znaleziono strony",
        "Stránka nenalezena",
        "Sayfa bulunamad\u0131",
        "Страница не найдена",
        "הדף לא נמצא",
        "الصفحة غير موجودة",
        "ページが見つかりません",
        "页面不存在",
        "페이지를 찾을 수 없습니다",
    ],
)
@pytest.mark.parametrize("place", ["title", "heading", "words"])
def test_a_page_that_says_it_is_not_there(headline: str, place: str) -> None:
    headlines = {"title": (headline,), "heading": ("Looms", headline), "words": ("Looms", "")}[place]
    short = headline if place != "words" or len(headline) > 20 else f"{headline}: page not found"

    assert error_page(headlines, short if place == "words" else "", 300) is ErrorPage.NOT_FOUND


@pytest.mark.parametrize(
    ("length", "headline"),
    [
        (1_000, "404 Not Found"),
        (400, "Peugeot 404 - Encyclopedia"),
        (400, "Route 404"),
        (400, "404 ways to weave"),
        (400, "The princess who was not found"),
        (400, "The S&P 500"),
        (2_000, "Internal Server Error"),
        (2_000, "Welcome to nginx and other servers"),
        (400, "Error handling in Rust"),
        (400, ""),
    ],
)
def test_a_page_about_errors_is_a_page(length: int, headline: str) -> None:
    assert error_page((headline,), "", length) is None


def test_only_the_opening_of_a_short_page_counts() -> None:
    words = "Page not found"

    assert error_page(("Looms",), f"{'warp and weft ' * 40}{words}", 450) is None
    assert error_page(("Looms",), words, 600) is None
    assert error_page(("Looms",), words, 100) is ErrorPage.NOT_FOUND


@pytest.mark.parametrize(
    ("length", "headline", "words"),
    [
        (90, "Internal Server Error", ""),
        (90, "500 Internal Server Error", ""),
        (90, "Service Temporarily Unavailable | Example", ""),
        (90, "Error 500", ""),
        (90, "Interner Serverfehler", ""),
        (90, "Application error: a client-side exception has occurred", ""),
        (90, "", "Error establishing a database connection"),
        (90, "Looms", "You have an error in your SQL syntax; check the manual"),
        (380, "Welcome to nginx!", ""),
        (2_900, "Apache2 Debian Default Page: It works", ""),
        (0, "IIS Windows Server", ""),
    ],
)
def test_an_error_of_the_server(length: int, headline: str, words: str) -> None:
    assert error_page((headline,), words, length) is ErrorPage.SERVER_ERROR
