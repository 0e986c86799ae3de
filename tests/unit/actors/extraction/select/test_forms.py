"""Forms: where they lead and what they ask for."""

from __future__ import annotations

import pytest

from actors.extraction.select.forms import MAX_FIELDS, MAX_FORMS, forms
from protocol.page import Form, FormField
from tests.support.whole_page import URL, parsed


def test_a_form_with_everything() -> None:
    page = parsed(
        "<form action='../search?x=1' method=post name=find>"
        "<label for=q>Search <b>for</b></label><input id=q name=q required value=yarn>"
        "<label>Colour <select name=c><option>red<option selected value=2>blue</select></label>"
        "<input type=email name=mail placeholder='Your mail'><textarea name=note aria-label=Note>hi</textarea>"
        "<input type=submit value=Go><button>Go</button></form>"
    )

    assert forms(page) == (
        Form(
            action="https://site.example/search?x=1",
            method="POST",
            name="find",
            fields=(
                FormField(name="q", label="Search for", required=True, value="yarn"),
                FormField(name="c", type="select", label="Colour", value="blue", options=("red", "blue")),
                FormField(name="mail", type="email", label="Your mail"),
                FormField(name="note", type="textarea", label="Note", value="hi"),
            ),
        ),
    )


def test_what_hidden_and_password_fields_hold_is_never_told() -> None:
    page = parsed("<form><input type=hidden name=token value=s3cret><input type=PassWord name=p value=s3cret></form>")

    (form,) = forms(page)

    assert form.fields == (FormField(name="token", type="hidden"), FormField(name="p", type="password"))
    assert "s3cret" not in repr(form)


def test_choices_of_one_name_are_one_field() -> None:
    page = parsed(
        "<form><fieldset><legend>Size</legend><label><input type=radio name=s value=1> Small</label>"
        "<label><input type=radio name=s value=2 checked> Large</label></fieldset>"
        "<label><input type=checkbox name=ok required> I agree</label></form>"
    )

    (form,) = forms(page)

    assert form.fields == (
        FormField(name="s", type="radio", label="Size", value="Large", options=("Small", "Large")),
        FormField(name="ok", type="checkbox", label="I agree", required=True),
    )


def test_fields_elsewhere_join_by_the_form_attribute() -> None:
    page = parsed(
        "<form id=a><input name=own><input name=other form=b></form><form id=b></form>"
        "<p id=hint>Town</p><input name=far form=a aria-labelledby=hint>"
    )

    assert [[(field.name, field.label) for field in form.fields] for form in forms(page)] == [
        [("own", ""), ("far", "Town")],
        [("other", "")],
    ]


@pytest.mark.parametrize(
    ("form", "action", "method"),
    [
        ("<form>", URL, "GET"),
        ("<form action='' method=DIALOG>", URL, "DIALOG"),
        ("<form action=/go method=put>", "https://site.example/go", "GET"),
        ("<form action=//other.example/x method=Post>", "https://other.example/x", "POST"),
        ("<form action='javascript:send()'>", "", "GET"),
    ],
)
def test_where_a_form_leads(form: str, action: str, method: str) -> None:
    (found,) = forms(parsed(f"{form}<input name=a></form>"))

    assert (found.action, found.method) == (action, method)


def test_what_nobody_sees_is_no_form_and_no_field() -> None:
    page = parsed(
        "<div hidden><form><input name=a></form></div><form><input name=b><input name=trap style='display:none'></form>"
    )

    assert [[field.name for field in form.fields] for form in forms(page)] == [["b"]]


def test_hostile_forms_are_bounded() -> None:
    many = parsed("<form><input name=a></form>" * 10_000)
    wide = parsed(f"<form>{'<label>x<input name=a></label>' * 50_000}</form>")
    nested = parsed(f"<form>{'<label><fieldset><legend>x</legend>' * 5_000}<input name=a></form>")

    assert len(forms(many)) == MAX_FORMS
    assert [len(form.fields) for form in forms(wide)] == [MAX_FIELDS]
    assert [len(form.fields) for form in forms(nested)] == [1]
