"""A page of more tags than any may have is refused before it is parsed."""

from __future__ import annotations

import pytest

from actors.extraction.parse.tree import MAX_TAGS, estimated_tags, read
from protocol.faults import Code, FaultError

ROWS, COLUMNS = 50_000, 30


@pytest.mark.parametrize("tag", ["<i></i>", "<div>", "<!---->", "<p class=a>weft"])
def test_a_page_of_too_many_tags_is_refused_unread(tag: str) -> None:
    with pytest.raises(FaultError) as caught:
        read(tag * (MAX_TAGS + 1), "https://a.example/")

    assert caught.value.fault.code is Code.CONTENT_TOO_LARGE


@pytest.mark.parametrize(
    ("source", "tags"),
    [
        ("<p>warp</p><br>", 2),
        ("<p>" + "<script>'<p>'</script>" * 3 + "<p>", 2),
        ("<p><script>" + "<p>" * 9, 1),
        ("<table>" + ("<tr>" + "<td>1" * COLUMNS) * ROWS, 1 + 0.4 * ROWS * (COLUMNS + 1)),
    ],
    ids=["few", "scripts", "an open script", "a table"],
)
def test_scripts_do_not_count_and_cells_count_less(source: str, tags: float) -> None:
    assert estimated_tags(source) == pytest.approx(tags)
