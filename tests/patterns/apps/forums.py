"""Applications in which people talk: threads with nested replies, questions, issues, incidents, letters."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

from tests.patterns.apps.model import DIV, NAV, Application, Record, markup, texts
from tests.patterns.apps.words import Prose, iso, long_date, slug_of
from tests.site.answers import Reply

SEVERITY = {1: "Minor", 2: "Major", 3: "Critical"}
PHASES = {"investigating": "Investigating", "identified": "Identified", "fixed": "Resolved"}
STATES = {"O": "Open", "C": "Closed", "W": "Waiting for an answer"}


def topic(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a topic with posts."""
    title = fixed.title()
    return {
        "id": 300 + 11 * number,
        "title": title,
        "slug": slug_of(title),
        "code": fixed.token(9),
        "when": free.moment(),
        "state": free.pick(*STATES),
        "severity": free.number(1, 3),
        "category": free.label(),
        "posts": [
            {"id": number * 100 + each, "author": free.name(), "paragraphs": free.paragraphs(1, 2),
             "likes": free.number(0, 40),
             "depth": min(each, free.number(0, 2)), "phase": free.pick(*PHASES), "when": free.moment()}
            for each in range(free.number(4, 7))
        ],
    }  # fmt: skip


def thread(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a thread whose replies have replies."""

    def reply(depth: int) -> Record:
        return {"by": free.name(), "text": free.paragraph(2), "points": free.number(1, 90),
                "children": [reply(depth + 1) for _ in range(free.number(0, 2) if depth < 3 else 0)]}  # fmt: skip

    return {"id": 4_000 + 3 * number, "title": fixed.title(), "text": free.paragraph(5), "by": free.name(),
            "children": [reply(1) for _ in range(free.number(2, 4))]}  # fmt: skip


def _said(record: Record) -> list[str]:
    return texts(record, "title") + [one for post in record["posts"] for one in (post["author"], *post["paragraphs"])]


def _replies(record: Record) -> Iterator[str]:
    for one in record["children"]:
        yield from (one["by"], one["text"])
        yield from _replies(one)


def _posts(record: Record) -> list[Record]:
    return [{**post, "when": iso(post["when"])} for post in record["posts"]]


def _topic(record: Record) -> Any:
    posts = [
        {"id": post["id"], "name": post["author"], "username": slug_of(post["author"]), "post_number": place + 1,
         "created_at": iso(post["when"]), "cooked": markup(post["paragraphs"]), "reply_count": 0}
        for place, post in enumerate(record["posts"])
    ]  # fmt: skip
    return {"id": record["id"], "title": record["title"], "fancy_title": html.escape(record["title"]),
            "slug": record["slug"], "posts_count": len(posts), "category_id": 5, "tags": [record["category"]],
            "post_stream": {"posts": posts, "stream": [post["id"] for post in posts]}}  # fmt: skip


def _question(record: Record) -> Any:
    first, *others = record["posts"]
    answers = [{"answer_id": one["id"], "body": markup(one["paragraphs"]), "score": one["likes"],
                "owner": {"display_name": one["author"]}, "is_accepted": not place}
               for place, one in enumerate(others)]  # fmt: skip
    return {"items": [{"question_id": record["id"], "title": record["title"], "body": markup(first["paragraphs"]),
                       "owner": {"display_name": first["author"]}, "creation_date": int(record["when"].timestamp()),
                       "tags": record["category"].split(), "answers": answers}],
            "has_more": False, "quota_remaining": 9_000}  # fmt: skip


def _member(store: Any, ask: Any, match: Any) -> Any:
    if "member=m-77" not in ask.headers.get("cookie", ""):
        return Reply(401, b'{"error":"log in"}', (("Content-Type", "application/json"), ("Cache-Control", "no-store")))
    one = store.one("code", match[1])
    return {"message": {"subject": one["title"],
                        "parts": [text for post in one["posts"] for text in post["paragraphs"]],
                        "from": one["posts"][0]["author"], "to": one["posts"][1]["author"]}}  # fmt: skip


FORUMS = (
    Application(
        name="forum",
        make=topic,
        path=lambda one: f"/t/{one['slug']}/{one['id']}",
        api=((r"/t/(\d+)\.json", lambda store, ask, match: _topic(store.one("id", match[1]))),),
        shown=_said,
        key="name",
        key_of="author",
        list_key="posts",
        shell=NAV,
        script="""
const topic = await get(`/t/${part[2]}.json`);
document.title = topic.title + ' - Forum';
root.innerHTML = `<h1><a href="/t/${topic.slug}/${topic.id}">${h(topic.title)}</a></h1>
  ${topic.post_stream.posts.map((post) => `<article id="post_${post.post_number}"><div class="names">
  <span class="username">${h(post.name)}</span></div><div class="cooked">${post.cooked}</div></article>`).join('')}`;
""",
    ),
    Application(
        name="hackers",
        make=thread,
        path=lambda one: f"/item?id={one['id']}",
        api=((r"/v0/thread/(\d+)", lambda store, ask, match: store.one("id", match[1])),),
        shown=lambda one: [*texts(one, "title", "text", "by"), *_replies(one)],
        key="by",
        shell=DIV,
        script="""
const item = await get('/v0/thread/' + query.get('id'));
document.title = item.title;
const draw = (one) => { const made = document.createElement('li'); const head = document.createElement('p');
  head.textContent = `${one.by ?? ''} · ${one.points} points`; made.append(head);
  const said = document.createElement('p');
  said.textContent = one.text; made.append(said);
  if (one.children.length) { const list = document.createElement('ul'); made.append(list);
    for (const child of one.children) list.append(draw(child)); } return made; };
root.innerHTML = `<h1>${h(item.title)}</h1><p>by <b>${h(item.by)}</b></p><p>${h(item.text)}</p>
  <h2>Comments</h2><ul></ul>`;
for (const child of item.children) root.querySelector('ul').append(draw(child));
""",
    ),
    Application(
        name="questions",
        make=topic,
        path=lambda one: f"/questions/{one['id']}/{one['slug']}",
        api=((r"/2\.3/questions/(\d+)", lambda store, ask, match: _question(store.one("id", match[1]))),),
        shown=lambda one: [*_said(one), f"Asked {long_date(one['when'])}"],
        key="display_name",
        key_of="author",
        list_key="answers",
        client="xhr",
        script="""
const { items: [one] } = await get(`/2.3/questions/${part[1]}?filter=withbody&site=questions`);
document.title = one.title + ' - Questions';
const asked = new Date(one.creation_date * 1000).toLocaleDateString('en-US',
  { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' });
root.innerHTML = `<h1>${h(one.title)}</h1><p>Asked ${asked}</p><p>${one.tags.map((tag) =>
  `<a href="/tagged/${h(tag)}">${h(tag)}</a>`).join(' ')}</p><div class="question"><div>${one.body}</div>
  <p>${h(one.owner.display_name)}</p></div><h2>${one.answers.length} Answers</h2>
  ${one.answers.map((each) => `<div class="answer"><div>${each.body}</div>
  <p>${each.score} votes, ${h(each.owner.display_name)}</p></div>`).join('')}`;
""",
    ),
    Application(
        name="tracker",
        make=topic,
        path=lambda one: f"/weaver/issues/{one['id']}",
        api=(
            (
                r"/rpc",
                lambda store, ask, match: {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "result": {
                        **{
                            key: one
                            for key, one in store.one("id", json.loads(ask.query["params"])["number"]).items()
                            if key in ("id", "title", "state", "severity", "category")
                        },
                        "notes": [
                            {"who": post["author"], "what": post["paragraphs"]}
                            for post in store.one("id", json.loads(ask.query["params"])["number"])["posts"]
                        ],
                    },
                },
            ),
        ),
        shown=lambda one: [*_said(one), STATES[one["state"]], SEVERITY[one["severity"]]],
        key="category",
        list_key="notes",
        script="""
const params = encodeURIComponent(JSON.stringify({ project: part[0], number: Number(part[2]) }));
const { result } = await get(`/rpc?method=issue.get&params=${params}`);
const states = { O: 'Open', C: 'Closed', W: 'Waiting for an answer' };
const severities = { 1: 'Minor', 2: 'Major', 3: 'Critical' };
document.title = `#${result.id} ${result.title}`;
root.innerHTML = `<h1>${h(result.title)}</h1><table><tbody><tr><th>State</th><td>${states[result.state]}</td></tr>
  <tr><th>Severity</th><td>${severities[result.severity]}</td></tr><tr><th>Area</th><td>${h(result.category)}</td></tr>
  </tbody></table>${result.notes.map((note) => `<div class="note"><h3>${h(note.who)}</h3>
  ${note.what.map((text) => `<p>${h(text)}</p>`).join('')}</div>`).join('')}`;
""",
    ),
    Application(
        name="letters",
        make=topic,
        path=lambda one: f"/list/thread/{one['code']}",
        api=(
            (
                r"/api/thread",
                lambda store, ask, match: {
                    "subject": store.one("code", ask.query["id"])["title"],
                    "mails": _posts(store.one("code", ask.query["id"])),
                },
            ),
        ),
        shown=_said,
        key="author",
        list_key="mails",
        shell=NAV,
        script="""
const found = await get('/api/thread?id=' + part[2]);
document.title = found.subject;
const names = [...new Set(found.mails.map((one) => one.author).filter(Boolean))];
root.innerHTML = `<h1>${h(found.subject)}</h1><p>Between ${h(names.join(', '))}</p>`;
for (const mail of found.mails) {
  const made = document.createElement('blockquote');
  made.style.marginLeft = mail.depth * 20 + 'px';
  made.innerHTML = `<h4>${h(mail.author)}</h4>` + mail.paragraphs.map((text) => `<p>${h(text)}</p>`).join('');
  root.append(made);
}
""",
    ),
    Application(
        name="guestbook",
        make=topic,
        path=lambda one: f"/book/{one['id']}",
        api=(
            (r"/api/csrf", lambda store, ask, match: {"csrfToken": "c-4711-constant"}),
            (r"/api/book/(\d+)/seen", lambda store, ask, match: {"ok": True}),
            (
                r"/api/book/(\d+)",
                lambda store, ask, match: {
                    "page": {
                        "heading": store.one("id", match[1])["title"],
                        "entries": _posts(store.one("id", match[1])),
                    }
                },
            ),
        ),
        writes=1,
        shown=_said,
        key="author",
        list_key="entries",
        script="""
const [{ csrfToken }, { page }] = await Promise.all([get('/api/csrf'), get('/api/book/' + part[1])]);
document.title = page.heading;
root.innerHTML = `<h1>${h(page.heading)}</h1>${page.entries.map((one) => `<div class="entry"><h3>${h(one.author)}</h3>
  ${one.paragraphs.map((text) => `<p>${h(text)}</p>`).join('')}<small>${one.likes} likes</small></div>`).join('')}`;
fetch(`/api/book/${part[1]}/seen`, { method: 'POST', headers: { 'X-CSRF-Token': csrfToken }, body: '{}' });
""",
    ),
    Application(
        name="incidents",
        make=topic,
        path=lambda one: f"/incidents/{one['code']}",
        api=(
            (
                r"/api/v2/incidents/([a-z0-9]+)\.json",
                lambda store, ask, match: {
                    "incident": {
                        "name": store.one("code", match[1])["title"],
                        "impact": store.one("code", match[1])["severity"],
                        "incident_updates": [
                            {
                                "status": post["phase"],
                                "body": " ".join(post["paragraphs"]),
                                "created_at": iso(post["when"]),
                                "author": post["author"],
                            }
                            for post in store.one("code", match[1])["posts"]
                        ],
                    }
                },
            ),
        ),
        shown=lambda one: [
            one["title"],
            SEVERITY[one["severity"]],
            *(
                text
                for post in one["posts"]
                for text in (
                    PHASES[post["phase"]],
                    *post["paragraphs"],
                    f"{post['when']:%H:%M} UTC",
                    long_date(post["when"]),
                )
            ),
        ],
        key="author",
        list_key="incident_updates",
        shell=NAV,
        script="""
const { incident } = await get(`/api/v2/incidents/${part[1]}.json`);
document.title = incident.name + ' - Status';
const words = { investigating: 'Investigating', identified: 'Identified', fixed: 'Resolved' };
const two = (number) => String(number).padStart(2, '0');
root.innerHTML = `<h1>${h(incident.name)}</h1>
  <p>Impact: ${{ 1: 'Minor', 2: 'Major', 3: 'Critical' }[incident.impact]}</p>
  <dl>${incident.incident_updates.map((one) => { const at = new Date(one.created_at);
    return `<dt>${words[one.status]}</dt><dd>${h(one.body)}<br><small>${at.toLocaleDateString('en-US',
      { month: 'long', day: 'numeric', year: 'numeric', timeZone: 'UTC' })},
    ${two(at.getUTCHours())}:${two(at.getUTCMinutes())} UTC, ${h(one.author)}</small></dd>`; }).join('')}</dl>`;
""",
    ),
    Application(
        name="mailbox",
        make=topic,
        path=lambda one: f"/mail/{one['code']}",
        api=((r"/mail/api/([a-z0-9]+)", _member),),
        login=("member", "m-77"),
        shown=lambda one: [one["title"], *(text for post in one["posts"] for text in post["paragraphs"])],
        key="from",
        list_key="parts",
        script="""
const { message } = await get('/mail/api/' + part[1], { credentials: 'same-origin' });
document.title = message.subject;
root.innerHTML = `<article><h1>${h(message.subject)}</h1><p>From ${h(message.from)} to ${h(message.to)}</p>
  ${message.parts.map((text) => `<p>${h(text)}</p>`).join('')}</article>`;
""",
    ),
)
