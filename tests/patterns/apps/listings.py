"""Applications that list: results of a search, a catalogue by offset, departures, and the episodes of a show."""

from __future__ import annotations

from typing import Any

from tests.patterns.apps.model import NAV, Application, Record, texts
from tests.patterns.apps.words import Prose, slug_of
from tests.site.answers import Ask

_SIZE = 6


def results(number: int, fixed: Prose, free: Prose) -> Record:
    """Make the results of a search."""
    return {"q": f"{fixed.label()} {number}", "total": free.number(12, 90_000), "hits": [
        {"title": free.title(), "snippet": free.paragraph(2), "url": f"/docs/{free.token()}", "site": free.place()}
        for _ in range(10)]}  # fmt: skip


def catalogue(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a page of books of a subject."""
    return {"subject": ("harbours", "clocks")[number % 2], "page": number // 2 + 1, "books": [
        {"title": free.title(), "author": free.name(), "year": free.number(1900, 2024), "blurb": free.paragraph(2)}
        for _ in range(_SIZE)]}  # fmt: skip


def board(number: int, fixed: Prose, free: Prose) -> Record:
    """Make the departures of a station."""
    return {"id": f"st{fixed.number(1_000, 9_999)}", "name": f"{fixed.place()} {fixed.noun().title()}",
            "notice": free.paragraph(4), "departures": [
        {"line": f"{free.pick('S', 'RE', 'IC')} {free.number(1, 99)}", "to": f"{free.place()} {free.noun().title()}",
         "minute": free.number(300, 1_400), "track": str(free.number(1, 14)), "note": free.sentence(),
         "state": free.pick("ON_TIME", "DELAYED", "CANCELLED")} for _ in range(10)]}  # fmt: skip


def show(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a show with episodes."""
    title = f"{fixed.label().title()} Hour"
    return {"title": title, "slug": f"{slug_of(title)}-{number}", "host": free.name(), "about": free.paragraph(4),
            "episodes": [{"title": free.title(), "seconds": free.number(600, 5_400), "about": free.paragraph(1)}
                         for _ in range(free.number(5, 9))]}  # fmt: skip


def _shelf(records: list[Record], ask: Ask) -> Any:
    page = int(ask.query["offset"]) // _SIZE + 1
    found = next(one for one in records if one["page"] == page or len(records) == 1)
    return {"name": found["subject"], "work_count": 42, "works": found["books"]}


STATES = {"ON_TIME": "On time", "DELAYED": "Delayed", "CANCELLED": "Cancelled"}

LISTINGS = (
    Application(
        name="finder",
        make=results,
        path=lambda one: f"/search?q={one['q'].replace(' ', '+')}",
        api=(
            (
                r"/api/search",
                lambda store, ask, match: {
                    "took": 4,
                    "hits": {
                        "total": store.one("q", ask.query["q"])["total"],
                        "hits": store.one("q", ask.query["q"])["hits"],
                    },
                },
            ),
        ),
        shown=lambda one: [text for hit in one["hits"] for text in texts(hit, "title", "snippet")],
        key="site",
        shell=NAV,
        script="""
const words = query.get('q');
const { hits } = await get(`/api/search?q=${encodeURIComponent(words)}&from=0&size=10`);
document.title = `${words} - Finder`;
root.innerHTML = `<h1>Results for ${h(words)}</h1><p>About ${hits.total.toLocaleString('en-US')} results</p>
  ${hits.hits.map((one) => `<div class="result"><h3><a href="${h(one.url)}">${h(one.title)}</a></h3>
  <cite>${h(one.site)}</cite><p>${h(one.snippet)}</p></div>`).join('')}`;
""",
    ),
    Application(
        name="library",
        make=catalogue,
        path=lambda one: f"/books?subject={one['subject']}&sort=new&page={one['page']}",
        api=(
            (r"/catalog/subjects/(\w+)\.json", lambda store, ask, match: _shelf(store.some("subject", match[1]), ask)),
        ),
        shown=lambda one: [text for book in one["books"] for text in texts(book, "title", "author", "blurb")],
        key="author",
        list_key="works",
        script="""
const offset = (Number(query.get('page')) - 1) * 6;
const sort = query.get('sort');
const found = await get(`/catalog/subjects/${query.get('subject')}.json?sort=${sort}&limit=6&offset=${offset}`);
document.title = `Books about ${found.name}`;
root.innerHTML = `<h1>Books about ${h(found.name)}</h1><p>${found.work_count} books</p>
  <ol>${found.works.map((one) => `<li>
  <h3>${h(one.title)}</h3><p>${h(one.author)}, ${one.year}</p><p>${h(one.blurb)}</p></li>`).join('')}</ol>`;
""",
    ),
    Application(
        name="departures",
        make=board,
        path=lambda one: f"/board/{one['id']}",
        api=((r"/stations/(\w+)/departures", lambda store, ask, match: store.one("id", match[1])),),
        shown=lambda one: [
            *texts(one, "name", "notice"),
            *(
                text
                for each in one["departures"]
                for text in (
                    each["line"],
                    each["to"],
                    f"{each['minute'] // 60:02}:{each['minute'] % 60:02}",
                    each["note"],
                    STATES[each["state"]],
                )
            ),
        ],
        key="notice",
        list_key="departures",
        client="xhr",
        script="""
const one = await get(`/stations/${part[1]}/departures?limit=10`);
document.title = `Departures: ${one.name}`;
const states = { ON_TIME: 'On time', DELAYED: 'Delayed', CANCELLED: 'Cancelled' };
const time = (minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
root.innerHTML = `<h1>${h(one.name)}</h1><p role="note">${h(one.notice)}</p><table><thead><tr><th>Time</th><th>Line</th>
  <th>To</th><th>Track</th><th>State</th><th>Remark</th></tr></thead><tbody>${one.departures.map((each) => `<tr>
  <td>${time(each.minute)}</td><td>${h(each.line)}</td><td>${h(each.to)}</td><td>${h(each.track)}</td>
  <td>${states[each.state]}</td><td>${h(each.note)}</td></tr>`).join('')}</tbody></table>`;
""",
    ),
    Application(
        name="podcasts",
        make=show,
        path=lambda one: f"/show/{one['slug']}/episodes",
        api=(
            (
                r"/feeds/([\w-]+)/items",
                lambda store, ask, match: {
                    "channel": {key: store.one("slug", match[1])[key] for key in ("title", "host", "about")},
                    "items": store.one("slug", match[1])["episodes"],
                },
            ),
        ),
        shown=lambda one: [
            *texts(one, "title", "host", "about"),
            *(
                text
                for each in one["episodes"]
                for text in (each["title"], each["about"], f"{each['seconds'] // 60}:{each['seconds'] % 60:02}")
            ),
        ],
        key="host",
        list_key="items",
        script="""
const { channel, items } = await get(`/feeds/${part[1]}/items`);
document.title = channel.title;
root.innerHTML = `<h1>${h(channel.title)}</h1><p>with <strong>${h(channel.host)}</strong></p><p>${h(channel.about)}</p>
  <h2>Episodes</h2><ul class="episodes">${items.map((one) => `<li><h3>${h(one.title)}</h3>
  <span>${Math.floor(one.seconds / 60)}:${String(one.seconds % 60).padStart(2, '0')}</span><p>${h(one.about)}</p></li>`)
  .join('')}</ul>`;
""",
    ),
)
