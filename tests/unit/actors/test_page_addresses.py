"""What a client means by an address, and what of it is shown to people."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.page_addresses import by_http, page_address, readable
from actors.web import guard
from protocol.faults import Code, FaultError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("example.com", "https://example.com"),
        ("example.com:8080", "https://example.com:8080"),
        ("localhost:8080/x", "https://localhost:8080/x"),
        ("//example.com/a", "https://example.com/a"),
        (" http://example.com/a b?c d#e f ", "http://example.com/a%20b?c%20d#e%20f"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("https://BÜCHER.example:8443/ä", "https://xn--bcher-kva.example:8443/ä"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/"),
        ("https://☃.example/", "https://xn--n3h.example/"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://ｌｏｃａｌｈｏｓｔ/", "http://localhost/"),
        ("http://[2606:2800::1]:8080/", "http://[2606:2800::1]:8080/"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("mailto:ada@example.com", "mailto:ada@example.com"),
        ("http://127.0.0.1\r\nHost: x/", "http://127.0.0.1\r\nHost: x/"),
    ],
)
def test_an_address_is_what_its_client_means(written: str, meant: str) -> None:
    assert (page_address(written), page_address(meant)) == (meant, meant)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("htp://example.com/a", "did you mean http://example.com/a"),
        ("htps://example.com", "did you mean https://example.com"),
        ("hxxp://example.com", "did you mean http://example.com"),
        ("http:example.com", "did you mean http://example.com"),
        ("https:/example.com", "did you mean https://example.com"),
        ("http://a b/", "holds a space"),
        ("read this page", "an address is wanted, such as https://example.com/"),
        ("", "no host"),
        ("/docs", "no host"),
        ("https:///docs", "no host"),
        ("http://a℀b.example/", "no name of the internet"),
        ("http://ex／ample.example/", "no name of the internet"),
        ("http://example.com：80/", "no name of the internet"),
    ],
)
def test_what_is_none_says_what_may_be_meant(written: str, words: str) -> None:
    with pytest.raises(FaultError) as caught:
        page_address(written)

    fault = caught.value.fault
    assert (fault.code, fault.field, words in fault.message) == (Code.VALIDATION_INVALID_REQUEST, "url", True)


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("localhost:8899", "http://localhost:8899"),
        ("loom/a b?c", "http://loom/a%20b?c"),
        ("//10.1.2.3/", "http://10.1.2.3/"),
        ("[::1]:8080/", "http://[::1]:8080/"),
        ("printer.local", "http://printer.local"),
        ("https://localhost:8899", ""),
        ("http://localhost:8899", ""),
        ("example.com:8080", ""),
        ("8.8.8.8", ""),
        ("ada@localhost", ""),
        ("mailto:ada@localhost", ""),
        ("[]", ""),
        ("[localhost", ""),
    ],
)
def test_only_what_is_near_and_was_written_without_a_scheme_may_mean_http(written: str, plain: str) -> None:
    assert by_http(written) == plain


@example("ⓛ/#")
@given(st.text(alphabet="aА.:/@%\\[]?#－。①⑦℀＠：／ⓛ \u00ad\u200d1", max_size=12))
def test_no_host_becomes_more_than_a_host(host: str) -> None:
    """Letters that stand for several never add a port, a user or a path that was not written."""
    try:
        parsed = guard.check_url(page_address(f"http://{host}.example/end"))
    except FaultError:
        return
    assert not parsed.userinfo
    assert parsed.raw_path.endswith(b"/end") or "#" in host
    assert parsed.port is None or ":" in host


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("xn--bcher-kva.example", "bücher.example"),
        ("xn--e1afmkfd.xn--p1ai:8080", "пример.рф:8080"),
        ("xn--e1afmkfd.com", "пример.com"),
        ("xn--r8jz45g.xn--zckzah", "例え.テスト"),
        ("xn--fiqs8s.example", "中国.example"),
        ("xn--80ak6aa92e.com", ""),  # all of Cyrillic
        ("xn--pple-43d.com", ""),  # one letter of Cyrillic among those of Latin
        ("xn--ls8h.example", ""),  # a picture
        ("example.com", ""),
        ("[::1]:80", ""),
        ("xn--.example", ""),
        ("xn--a.example", ""),
    ],
)
def test_a_host_is_shown_in_letters_that_pass_for_no_others(host: str, shown: str) -> None:
    assert readable(f"https://{host}/xn--a?b#c") == f"https://{shown or host}/xn--a?b#c"
