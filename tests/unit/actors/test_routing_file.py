"""The routing files: what is shipped is 004's table, an operator's file lies over it, and a wrong line is named."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
import structlog.testing

from actors.routing_file import ROUTING_FORM, WatchedRouting, read_routing
from actors.settings import Settings
from actors.toml_file import FILE_REFUSED
from protocol.faults import Code, FaultError
from protocol.models import ModelClass, ModelName, Provider
from protocol.routing import FALLBACK_CLASS, model_name
from tests.requirements import requirement

HAIKU = "anthropic/claude-haiku-4-5-20251001"
SONNET = "anthropic/claude-sonnet-4-5-20250929"
SIMPLE, STANDARD, COMPLEX, VISION = ModelClass


@requirement("004.routing.default")
def test_what_is_shipped_is_the_default_table() -> None:
    table = {row.pattern: (row.category, row.name) for row in read_routing().table.rows()}

    haiku, sonnet, gemini = (SIMPLE, HAIKU), (STANDARD, SONNET), (VISION, "google/gemini-2.5-pro")
    assert table == {
        f"browser_{tool}": (category, model_name(model))
        for tool, (category, model) in {
            "navigate": haiku,
            "click": haiku,
            "fill": haiku,
            "scroll_*": haiku,
            "tab_*": haiku,
            "go_back": haiku,
            "go_forward": haiku,
            "extract_*": sonnet,
            "get_page_content": sonnet,
            "get_console_*": sonnet,
            "execute_javascript": sonnet,
            "get_interactive_elements": sonnet,
            "multi_act": (COMPLEX, "anthropic/claude-opus-4-6"),
            "get_screenshot": gemini,
            "snapshot": gemini,
        }.items()
    }


def test_every_provider_has_a_model_of_every_class_and_ladders_stay_within_their_provider() -> None:
    routing = read_routing()

    assert [(one, kind) for one in Provider for kind in ModelClass if routing.model(one, kind) is None] == []
    assert set(routing.order) == set(Provider)
    top = model_name("anthropic/claude-opus-4-6")
    assert routing.stronger(model_name(SONNET)) == top
    assert (routing.stronger(top), routing.cheaper(top)) == (None, model_name(SONNET))
    assert routing.stronger(ModelName(provider=Provider.OLLAMA, model="qwen3:4b")) is None


def test_an_exact_name_wins_over_patterns_and_the_longest_pattern_over_shorter_ones(tmp_path: Path) -> None:
    own = tmp_path / "routing.toml"
    rows = {"*": "openai/a", "browser_*": "openai/b", "browser_tab_*": "openai/c", "browser_tab_new": "openai/d"}
    own.write_text(
        'order = ["google"]\n'
        + "\n".join(f'[[routes]]\ntools="{tools}"\ncategory="simple"\nmodel="{model}"' for tools, model in rows.items())
        + '\n[models.openai]\nsimple = "e"\n'
    )

    routing = read_routing(own)

    tools = ("browser_tab_new", "browser_tab_close", "browser_click", "browser_other", "web_answer")
    found = [row.name.model for tool in tools if (row := routing.table.find(tool)) is not None]
    assert found == ["d", "c", "claude-haiku-4-5-20251001", "b", "a"]
    assert (routing.order[0], routing.order[1]) == (Provider.GOOGLE, Provider.ANTHROPIC)
    assert routing.model(Provider.OPENAI, SIMPLE) == model_name("openai/e")
    assert routing.model(Provider.OPENAI, STANDARD) == model_name("openai/gpt-4o")
    assert (routing.category("browser_snapshot"), read_routing().category("web_answer")) == (VISION, FALLBACK_CLASS)


ROW = '[[routes]]\ntools = "{}"\ncategory = "simple"\nmodel = "openai/x"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('order = ["anthropic"]\nmodels = ?', 2, "is not TOML"),
        ('# mine\norder = ["nobody"]', 2, "order: Invalid enum value 'nobody'"),
        ("# mine\n\nladder = 1", 3, "unknown field `ladder`"),
        (ROW.format("a") + ROW.format("b").replace("simple", "fast"), 7, "Invalid enum value 'fast'"),
        (ROW.format("a") + ROW.format("b").replace("openai", "nobody"), 8, "It has to be "),
        (ROW.format("a") + ROW.format("a"), 6, "the tools a have a route already"),
        ('[models.openai]\nsimple = "a"\nplain = "b"', 3, "unknown field `plain`"),
        ('[ladders]\nopenai = ["a"]\ngoogle = "b"', 3, "google: Expected `array`"),
        ('[ladders]\nopenai = ["a", "b", "a"]', 2, "a model stands twice in the ladder of openai"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(FaultError) as caught:
        ROUTING_FORM.parse(text, "mine.toml")

    fault = caught.value.fault
    assert (fault.code, fault.field) == (Code.CONFIG_INVALID, "routing_file")
    assert fault.message.startswith("routing_file: mine.toml")
    assert f"line {line}" in fault.message
    assert words in fault.message


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match="cannot be read"):
        read_routing(tmp_path / "none.toml", needed=True)


async def test_an_edit_counts_at_once_and_a_broken_one_leaves_what_was(tmp_path: Path) -> None:
    own = tmp_path / "routing.toml"
    with anyio.fail_after(90), structlog.testing.capture_logs() as logs:
        async with WatchedRouting(Settings(data_dir=tmp_path), look_s=0.01).open() as watched:
            shipped = watched.routing
            own.write_text(ROW.format("web_answer"))
            while watched.routing is shipped:
                await anyio.sleep(0.005)
            edited = watched.routing
            own.write_text(ROW.format("web_answer") + "tools")
            while not any(line["event"] == FILE_REFUSED for line in logs):
                await anyio.sleep(0.005)

            assert watched.routing is edited
            row = edited.table.find("web_answer")
            assert row is not None
            assert row.name == model_name("openai/x")


async def test_a_replica_that_comes_up_while_the_file_is_broken_goes_by_what_is_shipped_until_it_is_mended(
    tmp_path: Path,
) -> None:
    own = tmp_path / "routing.toml"
    own.write_text("order = 1")
    with anyio.fail_after(90):
        async with WatchedRouting(Settings(data_dir=tmp_path), look_s=0.01).open() as watched:
            assert watched.routing.order == read_routing().order
            own.write_text('order = ["ollama"]')
            while watched.routing.order[0] is not Provider.OLLAMA:
                await anyio.sleep(0.005)
