"""Lists of addresses as other programs write them, and what none of them may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.runner.collections.imports import ListedPage, read_list
from protocol import subjects
from protocol.collection_views import ImportFormat, ImportSources
from protocol.faults import Code, FaultError
from tests.support.collecting import ME, YOU, collecting

A, B = "https://looms.example/a", "https://looms.example/b"

OPML = f"""<?xml version="1.0"?><opml version="2.0"><head><title>Feeds</title></head><body>
<outline text="Weaving">
<outline type="rss" text="Looms &amp; more" xmlUrl="{A}" htmlUrl="https://looms.example/"/></outline>
<outline type="rss" title="Yarn" xmlUrl="{B}"/></body></opml>"""
BOOKMARKS = f"""<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8"><TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p><DT><H3 ADD_DATE="1">Folder</H3><DL><p>
<DT><A HREF="{A}" ADD_DATE="1700000000" ICON="data:image/png;base64,AAAA">Looms &amp; more</A>
<DT><A HREF="javascript:alert(1)">A script</A><DT><A HREF="place:sort=8">Most visited</A>
</DL><p><DT><A HREF="{B}">Yarn</A></DL><p>"""
SITE_MAP = f"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{A}</loc><lastmod>2026-01-01</lastmod></url><url><loc> {B} </loc></url></urlset>"""
RSS = f"""<rss version="2.0"><channel><title>T</title><link>https://looms.example</link>
<item><title>Looms &amp; more</title><link>{A}</link></item>
<item><title>Yarn</title><guid>{B}</guid></item></channel></rss>"""
ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://looms.example"/>
<entry><title>Looms &amp; more</title><link rel="self" href="https://x.example"/><link href="{A}"/></entry>
<entry><title>Yarn</title><link rel="alternate" href="{B}"/></entry></feed>"""
CSV = f'title,url,time_added\n"Looms & more",{A},1\nYarn,{B},2\nNothing,,3\n'
NO_HEADER = f"1;Looms & more;{A}\n2;Yarn;{B}\n"
LINES = f"# mine\n\n{A} Looms & more\n{B}\tYarn\n"

TITLED = (ListedPage(A, "Looms & more"), ListedPage(B, "Yarn"))


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        ("opml", OPML, TITLED),
        ("bookmarks", BOOKMARKS, TITLED),
        ("sitemap", SITE_MAP, (ListedPage(A), ListedPage(B))),
        ("feed", RSS, TITLED),
        ("feed", ATOM, TITLED),
        ("csv", CSV, TITLED),
        ("csv", NO_HEADER, (ListedPage(A, "1"), ListedPage(B, "2"))),
        ("list", f"{A}\n{B}\n", (ListedPage(A), ListedPage(B))),
        ("list", LINES, TITLED),
        ("list", "a.example/b\nlocalhost:3000\n", (ListedPage("a.example/b"), ListedPage("localhost:3000"))),
    ],
)
def test_a_list_is_read_by_its_form_which_is_known_by_its_words(
    form: ImportFormat, text: str, expected: tuple[ListedPage, ...]
) -> None:
    for data in (text.encode(), text.encode("utf-8-sig"), text.encode("utf-16")):
        assert read_list(data) == read_list(data, form) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no address"),
        ("Dear Ada\nplease buy milk.\nYours\n", "line 1 begins with none; give OPML, bookmarks, .* one address a line"),
        (f"# mine\n{A}\nmilk\neggs\n", "line 3 begins with none"),
        ('{"a": 1}', "line 1 begins with none"),
        ("\0\1\2", "it is no text"),
        ("<html><body><p>words</p></body></html>", "neither OPML"),
        ("<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>", "names other site maps"),
        ("<urlset><url></url></urlset>", "no address"),
        ("<opml>" + "<outline/>" * 400_001, "tags"),
        ("https://a.example/\n" * 10_001, "more than 10000 addresses"),
    ],
)
def test_what_is_no_list_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_list(text.encode())


def test_no_entity_is_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'

    for text in (
        f'{bomb}<opml><body><outline text="&b;&f;" xmlUrl="{A}"/></body></opml>',
        f"{bomb}<urlset><url><loc>{A}</loc></url><url><loc>&f;</loc></url></urlset>",
        f"{bomb}<rss><channel><item><title>&b;&f;</title><link>{A}</link></item></channel></rss>",
    ):
        pages = read_list(text.encode())

        assert pages[0].url == A
        assert "root:" not in str(pages)
        assert "aaaaaaaaaa" not in str(pages)


async def test_a_list_is_added_once(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        world.pages = {A: "One.", B: "Two."}
        collection = await world.create()
        data = f"url,title\n{A},One\n{A}/#top,Twice\n{B},Two\nftp://a.example/,No\nnonsense here,No\nmilk,No\n".encode()
        request = ImportSources(caller=ME, collection=collection, data=data)
        first = await world.bus.call(subjects.COLLECTION_IMPORT, request)
        again = await world.bus.call(subjects.COLLECTION_IMPORT, request)
        view = await world.settled(collection)

        assert (first.read, first.added, first.known, first.refused_count) == (6, 2, 1, 3)
        assert [one.url for one in first.refused] == ["ftp://a.example/", "nonsense here", "milk"]
        assert again == first
        assert [(one.title, one.url, one.version) for one in view.sources] == [("One", A, 1), ("Two", B, 1)]


async def test_a_list_goes_to_nobody_elses_collection(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        collection = await world.create()

        with pytest.raises(FaultError) as refused:
            await world.bus.call(
                subjects.COLLECTION_IMPORT, ImportSources(caller=YOU, collection=collection, data=A.encode())
            )

        assert refused.value.fault.code is Code.VALIDATION_UNKNOWN_COLLECTION
