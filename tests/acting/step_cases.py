"""Cases of steps with their truth: an action on a page in a real browser, before and after, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from msgspec import Struct

from actors.fetchers.playwright.tab import Tab
from actors.planner.page_evidence import before_state
from protocol.acting.actions import ActionCall
from protocol.acting.steps import ClientEvidence, Expectation, StepClaim
from protocol.acting.tree import PageTree, SemanticNode
from tests.acting.step_pages import Mishap, StepPage, step_page
from tests.integration.playwright.viewing import Viewing

_TICK = "for (let n = 0; n < %d; n++) tick()"
_LATER = "new Promise((done) => setTimeout(done, 320))"
_EXPECTED_SHARE, _NEXT_SHARE, _SEEN_SHARE = 0.5, 0.5, 0.4


class StepCase(Struct, frozen=True, kw_only=True):
    """A claim about a step, and whether the step did what was wanted."""

    seed: int
    page: str
    mishap: Mishap
    claim: StepClaim
    truth: bool


def collect(web: Viewing, seeds: Iterable[int]) -> Iterator[StepCase]:
    """Yield for each seed what comes of the right action, and of one of its mishaps."""
    for seed in seeds:
        for mishap in (Mishap.RIGHT, _mishap(seed)):
            page = step_page(seed, mishap) if mishap is not None else None
            if page is not None and mishap is not None:
                yield _case(web, seed, page, mishap)


def _mishap(seed: int) -> Mishap | None:
    """Return a mishap that can befall the page of a seed."""
    right = step_page(seed, Mishap.RIGHT)
    return Random(f"mishap {seed}").choice(right.mishaps) if right is not None else None


def _case(web: Viewing, seed: int, page: StepPage, mishap: Mishap) -> StepCase:
    random = Random(f"{seed} {mishap}")
    web.show(page.html)
    if page.action == "press":
        web.run("document.getElementById('target').focus()")
    before = web.tree(selectors=True, max_tokens=None)
    target = _target(before)
    web.run(_TICK % random.choice((0, 1, 1, 2)))
    if mishap is not Mishap.DROPPED:
        web.do(_perform, page, "decoy" if mishap is Mishap.WRONG_ELEMENT else "target")
    web.run(_LATER)
    after = web.tree(selectors=True, max_tokens=None)
    truth = mishap is Mishap.RIGHT
    return StepCase(
        seed=seed, page=page.name, mishap=mishap, claim=_claim(page, target, before, after, random), truth=truth
    )


def _claim(page: StepPage, target: SemanticNode, before: PageTree, after: PageTree, random: Random) -> StepClaim:
    """Return what the planner would ask: with what it expected or not, with what a client says or not."""
    expected = Expectation(kind=page.expected, element="" if page.action == "press" else target.id, value=page.wanted)
    arguments = dict(page.arguments) | ({} if page.action == "press" else {"element": target.id})
    seen = random.random() < _SEEN_SHARE
    return StepClaim(
        goal=page.step,
        step=page.step,
        action=ActionCall(name=page.action, arguments=arguments),
        before=before_state(before),
        after=before_state(after),
        expected=expected if random.random() < _EXPECTED_SHARE else None,
        client=ClientEvidence(status="success", element_found=True) if seen else ClientEvidence(),
        next_step=page.next_step if random.random() < _NEXT_SHARE else "",
    )


def _target(tree: PageTree) -> SemanticNode:
    """Return the node that the action is about."""
    return next(one for one in tree.nodes if "#target" in one.selector)


async def _perform(tab: Tab, page: StepPage, element: str) -> None:
    """Have the browser do an action on an element, as a person would."""
    one = tab.page.locator(f"#{element}")
    if page.action == "press":
        await one.press(page.arguments["key"])
    elif page.action == "setValue":
        await one.fill(page.arguments["value"])
        await one.blur()
    elif page.action == "selectDropdown":
        await one.select_option(page.arguments["value"])
    else:
        await one.click()
