"""A step is not done where the page itself says so: in words, by a field that it marks, by the status of an error."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest
from msgspec import structs

from protocol.acting.actions import ActionCall
from protocol.acting.steps import BlockerKind
from protocol.acting.tree import SemanticNode
from tests.unit.actors.verifier.test_steps import CITY, CLICK, NAME, PAGE, call, changed, judged, node, state

STEPS = files("actors.verifier").joinpath("package_data", "steps")
WORDS = (40.0, 110.0)
"""Where a message stands that is beside a field."""

REFUSALS: dict[str, tuple[tuple[SemanticNode, ...], dict[str, Any], str]] = {
    "it asks for something beside a field": (
        changed(node(8, "text", "Choose a city from the list", WORDS)), {}, "Choose a city from the list",
    ),
    "it says who may": (
        changed(node(8, "text", "Only owners can do this.", (40, 230))), {}, "Only owners can do this.",
    ),
    "it marks another field": (changed(structs.replace(CITY, state="invalid")), {}, "City"),
    "it came with a status of an error": (
        (node(20, "h", "Back soon"),), {"url": "https://shop.example/usage", "status": 503}, "503, Back soon",
    ),
    "its title is a status of an error": (
        (node(20, "h", "Page not found"),), {"url": "https://shop.example/nope", "title": "404"}, "Page not found",
    ),
}  # fmt: skip

TAKEN: dict[str, tuple[ActionCall, tuple[SemanticNode, ...]]] = {
    "a next step that asks for what it brings": (
        CLICK, changed(node(8, "text", "Choose a date", WORDS), node(9, "inp", "Date", (40, 130))),
    ),
    "a choice beside which it asks for another": (
        call("click", node(3, "chk", "I agree")),
        changed(node(3, "chk", "I agree", state="checked"), node(8, "text", "Select a city", WORDS)),
    ),
    "what it says of an empty list": (CLICK, changed(node(8, "text", "You don't have any items", (40, 230)))),
}  # fmt: skip

REWRITTEN = (("abcdefgh", "abcde"), ("12ab34", "1234"))


@pytest.mark.parametrize(("nodes", "fields", "words"), REFUSALS.values(), ids=REFUSALS)
def test_what_a_page_refuses_is_not_done_and_its_words_are_the_last(
    nodes: tuple[SemanticNode, ...], fields: dict[str, Any], words: str
) -> None:
    verdict = judged(CLICK, state(*nodes, **fields), final=True)

    assert (verdict.succeeded, verdict.task_done, verdict.refused) == (False, False, True)
    assert words in verdict.evidence[-1]


@pytest.mark.parametrize(("action", "nodes"), TAKEN.values(), ids=TAKEN)
def test_what_only_looks_like_a_refusal_is_none(action: ActionCall, nodes: tuple[SemanticNode, ...]) -> None:
    verdict = judged(action, state(*nodes))

    assert (verdict.succeeded, verdict.refused) == (True, False), verdict


@pytest.mark.parametrize(("wanted", "held"), REWRITTEN)
def test_a_field_that_has_made_something_else_of_a_value_is_quoted(wanted: str, held: str) -> None:
    verdict = judged(call("setValue", NAME, value=wanted), state(*changed(structs.replace(NAME, value=held))))

    assert (verdict.succeeded, verdict.confidence < 0.1) == (False, True)
    assert repr(held) in verdict.evidence[-1]


def test_the_status_of_an_error_names_what_stands_in_the_way() -> None:
    after = state(*PAGE, url="https://shop.example/usage", status=503)

    verdict = judged(CLICK, after)

    assert verdict.blocker is not None
    assert (verdict.blocker.kind, "503" in verdict.blocker.words) == (BlockerKind.PAGE_ERROR, True)


MESSAGES: dict[str, tuple[str, str, str]] = {
    "cs": ("Jméno je povinné", "Změny byly uloženo.", "Nemáte oprávnění to měnit."),
    "da": ("Feltet skal udfyldes", "Ændringerne er gemt.", "Du har ikke tilladelse til det."),
    "de": ("Name ist erforderlich", "Die Änderungen sind gespeichert.", "Nur Besitzer können das tun."),
    "en": ("Name is required", "Your changes are saved.", "Only owners can do this."),
    "es": ("El nombre es obligatorio", "Cambios guardados.", "No tiene permisos para hacerlo."),
    "fi": ("Nimi on pakollinen", "Muutokset on tallennettu.", "Vain omistajat voivat tehdä tämän."),
    "fr": ("Le nom est obligatoire", "Modification enregistrée.", "Seul le propriétaire peut le faire."),
    "it": ("Il nome è obbligatorio", "Modifica salvata.", "Solo i proprietari possono farlo."),
    "ja": ("名前を入力してください", "変更を保存しました。", "この操作を行う権限がありません。"),
    "ko": ("이름을 입력해 주세요", "변경 사항이 저장되었습니다.", "이 작업을 할 권한이 없습니다."),
    "nb": ("Navn må fylles ut", "Endringene er lagret.", "Bare eiere kan gjøre dette."),
    "nl": ("Naam is verplicht", "De wijzigingen zijn opgeslagen.", "Alleen eigenaren kunnen dit doen."),
    "pl": ("Imię jest wymagane", "Zmiany zapisano.", "Tylko właściciel może to zrobić."),
    "pt": ("O nome é obrigatório", "Alteração salva.", "Apenas o dono pode fazer isso."),
    "ru": ("Имя обязательно для заполнения", "Изменения сохранены.", "Только владелец может это сделать."),
    "sv": ("Namn är obligatoriskt", "Ändringarna har sparats.", "Bara ägare kan göra detta."),
    "tr": ("Ad alanı zorunludur", "Değişiklikler kaydedildi.", "Bunun için yetkiniz yok."),
    "uk": ("Це обов'язкове поле", "Зміни збережено.", "Лише власник може це зробити."),
    "zh": ("姓名不能为空", "更改已保存。", "您没有权限执行此操作。"),
}
"""An error, a success and a refusal in each language of the verifier's words."""


@pytest.mark.parametrize(("error", "success", "refused"), MESSAGES.values(), ids=MESSAGES)
def test_what_a_page_says_of_an_action_is_understood_in_every_language(error: str, success: str, refused: str) -> None:
    wrong, right, reserved = (
        judged(CLICK, state(*changed(node(8, "text", words, (40, 230))))) for words in (error, success, refused)
    )

    assert (wrong.succeeded, reserved.succeeded, reserved.refused or reserved.blocker is not None) == (
        False,
        False,
        True,
    )
    assert right.succeeded
    assert any(success in sentence for sentence in right.evidence)


def test_every_language_has_words_for_the_same() -> None:
    books = {file.name: tomllib.loads(file.read_text()) for file in STEPS.iterdir()}

    assert books.keys() == {f"{language}.toml" for language in MESSAGES}
    assert {tuple(sorted(book)) for book in books.values()} == {tuple(sorted(books["en.toml"]))}
