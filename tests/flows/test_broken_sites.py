"""Sites that break off, hang, send what is no text or lead elsewhere: each tier says the same of them."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

from protocol.faults import Code
from protocol.tiers import BROWSER, RenderTier
from tests.flows.system import System, refused
from tests.site import Site
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

BROKEN_OFF = (
    *("half/gzip", "half/gzip?frame=chunked", "half/gzip?frame=close", "half/deflate", "half/deflate?frame=chunked"),
    *("half/br", "half/br?frame=close", "half/zstd", "half/zstd?frame=chunked", "half/plain?frame=longer"),
    *("half/plain?frame=endless", "half/gzip?frame=longer"),
)
WHOLE = ("half/gzip?part=1", "half/deflate?part=1&frame=chunked", "half/br?part=1&frame=close", "half/zstd?part=1")
LEADING = ("refresh/1", "refresh/3", "refresh?s=2", "frameset", "iframe", "iframe?to=/broken/refresh/1")
FORBIDDEN = (
    *("http://10.0.0.1/", "http://127.0.0.1:22/", "http://①②⑦.⓪.⓪.①:22/", "http://[::ffff:10.0.0.1]/"),
    *("//10.0.0.1/", "http://ada:secret@10.0.0.1/"),
)
TIERS = tuple(RenderTier)
EVERY = 5
"""Of the cases of the browser, which takes longest, one in so many is always tried."""


def cases(paths: tuple[str, ...]) -> list[ParameterSet]:
    """Pair every path with the cheap tiers, and some with the browser."""
    cheap = [pytest.param(tier, path) for tier in TIERS if not tier.spec.is_browser for path in paths]
    return cheap + one_in(EVERY, [(BROWSER, path) for path in paths])


def code_of(weft: System, site: Site, tier: RenderTier, path: str, **options: object) -> Code:
    return refused(weft.browse(site.url(f"/broken/{path}"), forceTier=tier.value, **options)).code


@pytest.mark.parametrize(("tier", "path"), one_in(3, cases(BROKEN_OFF)))
def test_half_a_page_is_none(weft: System, site: Site, tier: RenderTier, path: str) -> None:
    # Twice: nothing of it was kept for the second time.
    codes = [code_of(weft, site, tier, path) for _ in range(2)]

    assert codes == [Code.NETWORK_CONNECTION_FAILED] * 2


@pytest.mark.parametrize(("tier", "path"), cases(WHOLE))
def test_a_whole_one_is_read_to_its_end(weft: System, site: Site, tier: RenderTier, path: str) -> None:
    assert "Thread 899 of the warp" in weft.page(site.url(f"/broken/{path}"), forceTier=tier.value).content.markdown


@pytest.mark.parametrize("tier", TIERS)
def test_bytes_that_are_no_text_are_no_page(weft: System, site: Site, tier: RenderTier) -> None:
    assert code_of(weft, site, tier, "noise") is Code.CONTENT_UNSUPPORTED_TYPE


@pytest.mark.parametrize(("tier", "path"), cases(LEADING))
def test_a_document_that_leads_on_is_followed(weft: System, site: Site, tier: RenderTier, path: str) -> None:
    result = weft.page(site.url(f"/broken/{path}"), forceTier=tier.value)

    assert (result.title, result.metadata.final_url) == ("How a loom is warped", site.url("/article"))


@pytest.mark.parametrize("tier", TIERS)
def test_one_that_leads_on_for_ever_ends(weft: System, site: Site, tier: RenderTier) -> None:
    assert code_of(weft, site, tier, "refresh/loop") is Code.HTTP_TOO_MANY_REDIRECTS


@pytest.mark.parametrize(
    ("tier", "path"),
    cases(tuple(f"{way}?to={target}" for target in FORBIDDEN for way in ("refresh", "iframe"))),
)
def test_nothing_leads_where_nobody_may_go(weft: System, site: Site, tier: RenderTier, path: str) -> None:
    assert code_of(weft, site, tier, path) in (Code.SECURITY_ADDRESS_BLOCKED, Code.SECURITY_URL_BLOCKED)


@pytest.mark.parametrize("path", ["kasada", "1020"])
def test_whoever_keeps_programs_out_is_known_by_marks_of_the_answer(weft: System, site: Site, path: str) -> None:
    assert code_of(weft, site, TIERS[0], path) is Code.BLOCKED_BOT_DETECTION


@pytest.mark.parametrize("path", first(2, ["silence", "drip"]))
@pytest.mark.parametrize("tier", TIERS)
def test_a_site_that_hangs_is_late(weft: System, site: Site, tier: RenderTier, path: str) -> None:
    assert code_of(weft, site, tier, path, maxLatencyMs=3_000) is Code.NETWORK_TIMEOUT
