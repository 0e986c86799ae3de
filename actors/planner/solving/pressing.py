"""Pressing: clicks of all kinds, on one target or on each of several, and the controls of things named by their row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import structs

from actors.planner.solution import Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.exploring import SHUT_SIGNS, explore, next_tab, uncover
from actors.planner.solving.instructions import Instruction, without_article
from actors.planner.solving.moves import looking, on, press_key
from actors.planner.solving.picking import Wanted, anchors, pick, pick_all
from actors.planner.solving.scene import Scene, box_of
from actors.planner.solving.special import press_specially
from actors.planner.solving.targets import SYNONYM, NodeFit, TargetPhrase, is_other_action, phrase_of, same_thing
from actors.planner.solving.vocabulary import CONTROLS, Deed
from actors.planner.solving.words import bare, tokens
from protocol.acting.tree import SemanticNode

_ACTIONS: Final[Mapping[Deed, str]] = MappingProxyType(
    {Deed.DOUBLE: "doubleClick", Deed.CONTEXT_MENU: "rightClick", Deed.HOVER: "hover", Deed.FOCUS: "focus"}
)
_MAX_FAILURES: Final = 3
_SURE: Final = 0.8
"""How sure a choice must be for no other to be tried where it left no trace."""

_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"enter": "Enter", "return": "Enter", "escape": "Escape", "esc": "Escape", "tab": "Tab", "space": "Space"}
    | {"backspace": "Backspace", "page down": "PageDown", "page up": "PageUp"}
    | {f"{way} arrow": f"Arrow{way.capitalize()}" for way in ("up", "down", "left", "right")}
)
_ARTICLES: Final = frozenset({"the", "a", "an", "my", "your", "der", "die", "das", "le", "la", "el"})
_TALL_PX: Final = 24.5
_WIDGETS: Final[Mapping[str, tuple[str, Callable[[SemanticNode], bool]]]] = MappingProxyType(
    {
        "button": ("btn", lambda _: True),
        "checkbox": ("chk", lambda _: True),
        "radio": ("radio", lambda _: True),
        "text": ("inp", lambda node: box_of(node)[3] < _TALL_PX),
        "textarea": ("inp", lambda node: box_of(node)[3] >= _TALL_PX),
        "link": ("link", lambda _: True),
        "select": ("sel", lambda _: True),
    }
)
"""Names of kinds of controls as markup has them."""
_PAGER: Final = re.compile(r"\d+|[<>«»‹›]+|next|prev\w*", re.IGNORECASE)
_PATH: Final = re.compile(r"\s*(?:>|›|→|»)\s*")


def press(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click that an instruction wants, or that which brings its target into view."""
    action = _ACTIONS.get(instruction.deed, "click")
    if instruction.deed in {Deed.PRESS, Deed.EXPAND, Deed.CHOOSE} and _PATH.search(instruction.target):
        return press_path(instruction, scene, attempts)
    special = press_specially(instruction, scene, attempts) if action == "click" else None
    if special is not None:
        return special
    phrase = phrase_of(instruction.target)
    exactly = any(bare(node.name) == bare(phrase.plain) for node in scene.controls)
    if (phrase.every or phrase.count) and not exactly:
        return press_each(instruction, scene, attempts)
    if attempts.has_done(action) or attempts.has_done("press"):
        return StepOver(why=f"{instruction.words}: done.")
    key = _KEYS.get(re.sub(r"\s+key$", "", phrase.plain.casefold()))
    if key and not any(same_thing(node.name, phrase.plain) for node in scene.controls):
        return press_key(key, f"Press {key}.", 0.9)
    if attempts.untraced and attempts.untraced[-1].confidence >= _SURE:
        return Unsolved(why=f"{instruction.words}: it was done, and the page shows nothing of it.")
    if len(attempts.bad) >= _MAX_FAILURES:
        return Unsolved(why=f"{instruction.words}: {_MAX_FAILURES} ways were tried.")
    return reach(instruction, scene, attempts, action=action)


def reach(instruction: Instruction, scene: Scene, attempts: Attempts, *, action: str = "click") -> Solution:
    """Return an action on the target of an instruction, whatever must be opened or closed for it first."""
    phrase, without = phrase_of(instruction.target), attempts.failed
    if instruction.deed is Deed.EXPAND:
        without |= {node.id for node in scene.controls if is_other_action(phrase, node)}
    wanted = Wanted(phrase=phrase, without=without, place=instruction.place)
    picked = pick(scene, wanted)
    match picked:
        case None:
            return _otherwise(instruction, scene, attempts, action)
        case UserAsked():
            return picked
        case NodeFit(node=node, score=score):
            if node.role == "text" and (beside := _labelled_control(node, scene)) is not None:
                return on(beside, score, action=action)
            if (node.occluded and action != "hover") or attempts.was_covered:
                return uncover(scene, attempts)
            if not _is_called_so(node, wanted.phrase) and (tab := next_tab(scene, attempts)) is not None:
                return tab
            return on(node, score, action=action)


def _is_called_so(node: SemanticNode, phrase: TargetPhrase) -> bool:
    """Return whether a node has the very words that a phrase quotes, where it quotes some."""
    return not phrase.quoted or any(
        quote.strip() in {node.name.strip(), node.context.strip()} for quote in phrase.quoted
    )


def _labelled_control(label: SemanticNode, scene: Scene) -> SemanticNode | None:
    """Return what can be pressed beside a text that ends with a colon."""
    if not label.name.rstrip().endswith(":"):
        return None
    after = scene.nodes[scene.order[label.id] + 1 :][:2]
    return next((node for node in after if node.role in CONTROLS and scene.same_row(node, label)), None)


def _otherwise(instruction: Instruction, scene: Scene, attempts: Attempts, action: str) -> Solution:
    """Return what is done where no name fits: the only control of the kind, else a look elsewhere."""
    phrase = phrase_of(instruction.target)
    if phrase.ordinal is not None:
        return nth_of_pages(instruction, phrase, scene, attempts)
    if phrase.quoted and (role := _WIDGETS.get(phrase.quoted[0].casefold())):
        kinds = [node for node in scene.of_roles(role[0]) if role[1](node)]
        if kinds:
            return on(kinds[0], 0.75, action=action)
    if (
        any(same_thing(" ".join(phrase.words), word) for word in ("submit", "login"))
        and len(scene.of_roles("btn")) == 1
    ):
        return on(scene.of_roles("btn")[0], 0.65, action=action)
    if instruction.deed is Deed.EXPAND:
        return _unfold(instruction, scene, attempts)
    if not phrase.quoted and (not phrase.words or len(attempts.looked) > 1):
        alone = [
            node for node in scene.nodes if node.role in (phrase.kinds or {"btn"}) and node.id not in attempts.failed
        ]
        if len(alone) == 1:
            return on(alone[0], 0.7, action=action)
    return explore(instruction, scene, attempts)


def nth_of_pages(instruction: Instruction, phrase: TargetPhrase, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on the n-th of a list that goes on over further pages, or the turn to its page."""
    links = [node for node in scene.of_roles("link", "item") if not _PAGER.fullmatch(node.name)]
    lefts = [round(box_of(node)[0]) for node in links]
    column = max(set(lefts), key=lefts.count, default=0)
    listed = [node for node, left in zip(links, lefts, strict=True) if left == column]
    wanted = (phrase.ordinal or 1) - 1
    if not listed or wanted < 0:
        return explore(instruction, scene, attempts)
    page, place = divmod(wanted, len(listed))
    turned = len(attempts.looked)
    if turned == page or (page and any(f"page {page + 1}" in one.thought for one in attempts.taken)):
        return on(listed[place], 0.8)
    for name in (str(page + 1), ">", "next"):
        for node in scene.of_roles("link", "btn"):
            if same_thing(node.name, name):
                return looking(node, f"turn to page {page + 1} with" if name == str(page + 1) else "turn the page with")
    return explore(instruction, scene, attempts)


def close(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the closing of a dialog, a banner or a section: by its own control, else as one leaves such a thing."""
    if attempts.good or attempts.looked:
        return StepOver(why=f"{instruction.words}: done.")
    picked = pick(scene, Wanted(phrase=phrase_of(instruction.target), roles=frozenset({"btn", "link"})))
    if isinstance(picked, NodeFit) and picked.score >= SYNONYM:
        return on(picked.node, picked.score)
    open_now = [node for node in scene.controls if "expanded" in node.states]
    if instruction.verb in {"collapse", "hide"} and open_now:
        return on(open_now[0], 0.75)
    return uncover(scene, attempts)


def _unfold(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the opening of what is shut, where an instruction names nothing that tells it from others."""
    opened = {call.element for call in attempts.good}
    shut = [node for node in scene.controls if "collapsed" in node.states and node.id not in opened]
    shut = shut or [
        node
        for node in scene.nodes
        if (node.name.strip() in SHUT_SIGNS or same_thing(node.name, "menu")) and not attempts.good
    ]
    if shut and not attempts.good:
        return on(shut[0], 0.75)
    return StepOver(why=f"{instruction.words}: done.") if attempts.good else explore(instruction, scene, attempts)


def press_path(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next step on a way through menus, `File > Export > PDF`: each is pointed at, the last is clicked."""
    names = [part for part in _PATH.split(instruction.target) if part.strip()]
    if attempts.has_done("click"):
        return StepOver(why=f"{instruction.words}: done.")
    hovered = {call.element for call in attempts.good if call.name == "hover"}
    for place in range(len(names) - 1, -1, -1):
        picked = pick(scene, Wanted(phrase=phrase_of(names[place]), without=attempts.failed))
        if not isinstance(picked, NodeFit) or (picked.node.role not in CONTROLS and picked.score < 0.7):  # noqa: PLR2004
            continue
        if place == len(names) - 1:
            return on(picked.node, picked.score)
        if picked.node.id in hovered:
            return on(picked.node, picked.score - 0.1, thought=f"Open “{picked.node.name}”.")
        return on(picked.node, picked.score, action="hover")
    return explore(instruction, scene, attempts)


def press_each(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next click on each of several: all that fit, or as many as are wanted."""
    phrase = phrase_of(instruction.target)
    targets = each_of(phrase, instruction, scene)
    clicked = {one.node.id for one in targets if attempts.has_clicked(one.node)} | attempts.failed
    wanted = phrase.count or len(targets)
    left = [one for one in targets if one.node.id not in clicked]
    if left and len(clicked) < wanted:
        return on(left[0].node, left[0].score)
    if undone := attempts.failed - {one.action.element for one in attempts.untraced}:
        return Unsolved(why=f"{instruction.words}: {len(undone)} of them were not done.")
    return StepOver(why=f"{instruction.words}: each was done.") if clicked else explore(instruction, scene, attempts)


def each_of(phrase: TargetPhrase, instruction: Instruction, scene: Scene) -> tuple[NodeFit, ...]:
    """Return all that fit a phrase, in the order of the page; within each row of those that are named."""
    plain = structs.replace(phrase, within="", ordinal=None)
    fits = pick_all(scene, Wanted(phrase=plain))
    best = [one for one in fits if one.score >= fits[0].score - 0.05] if fits else []
    best = [one for one in best if one.node.role in CONTROLS] or best
    place = f"{phrase.within} {instruction.place}".strip()
    place = re.sub(r"^(?:\d+|all|each|every)\s+", "", place)
    owner = re.search(r"\b(?:by|of|from|for)\s+(.+)$", place)
    rows = anchors(scene, owner[1] if owner else place, {one.node.id for one in best}) if place else []
    if rows:
        sections = {node.id for anchor in rows for node in (*scene.in_section_of(anchor), *_row(scene, anchor))}
        best = [one for one in best if one.node.id in sections] or best
    return tuple(sorted(best, key=lambda one: scene.order.get(one.node.id, 0)))


def _row(scene: Scene, anchor: SemanticNode) -> tuple[SemanticNode, ...]:
    return tuple(node for node in scene.nodes if scene.same_row(node, anchor))


def submit(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click that sends a form: the button of that name, else the only one that could."""
    if attempts.has_done("click"):
        return StepOver(why="The form was sent.")
    called = [
        node for node in scene.of_roles("btn", "link") if _content_words(node.name) == _content_words(instruction.words)
    ]
    if len(called) == 1 and called[0].id not in attempts.failed:
        return on(called[0], 0.95)
    named = structs.replace(instruction, target=instruction.target or instruction.verb.removesuffix(" the form"))
    verb = instruction.verb.removesuffix(" the form")
    ways = (f"{verb} {without_article(instruction.target)}", "" if verb == "submit" else verb, named.target, "submit")
    for words in (one for one in ways if one.strip()):
        picked = pick(
            scene, Wanted(phrase=phrase_of(words), roles=frozenset({"btn", "link", "img"}), without=attempts.failed)
        )
        if isinstance(picked, NodeFit):
            return on(picked.node, picked.score)
    buttons = [node for node in scene.of_roles("btn") if node.id not in attempts.failed]
    if buttons:
        return on(buttons[-1], 0.6)
    return explore(named, scene, attempts)


def _content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text without its articles: a button leaves out what an instruction says."""
    return tuple(word for word in tokens(text) if word not in _ARTICLES)


def press_on_item(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the control with the verb's name that belongs to a thing: in its row, else once that is opened."""
    verb = instruction.verb.split(" ")[0]
    if attempts.has_done("click"):
        return StepOver(why=f"{instruction.words}: done.")
    controls = [node for node in scene.controls if same_thing(node.name, verb) or verb in node.name.casefold().split()]
    controls = [node for node in controls if node.id not in attempts.failed]
    if controls and (attempts.looked or not instruction.target):
        return on(controls[0], 0.85)
    if instruction.target:
        rows = anchors(scene, instruction.target, {node.id for node in controls})
        for anchor in rows:
            section = {node.id for node in (*scene.in_section_of(anchor), *_row(scene, anchor))}
            own = [node for node in controls if node.id in section]
            if own:
                return on(own[0], 0.85)
        if rows and not attempts.looked:
            return looking(rows[0], "open")
    if len(controls) == 1:
        return on(controls[0], 0.8)
    return explore(instruction, scene, attempts)
