"""Applications that describe people, firms, dishes, events, jobs and films."""

from __future__ import annotations

from typing import Any

from tests.patterns.apps.model import DIV, NAV, Application, Record, markup, texts
from tests.patterns.apps.words import Prose, money, slug_of

KINDS = {"FULL_TIME": "Full time", "PART_TIME": "Part time", "CONTRACT": "Contract"}
GENRES = {10: "Drama", 20: "Comedy", 30: "Documentary"}
SORTS = {"talk": "Talk", "walk": "Guided walk", "show": "Exhibition"}
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def person(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a person; some have no home page and no place."""
    name = fixed.name()
    return {
        "name": name,
        "login": f"{slug_of(name).replace('-', '')}{number}",
        "bio": free.paragraph(3),
        "city": None if number % 4 == 1 else free.place(),
        "homepage": None if number % 3 == 1 else f"https://{slug_of(name)}.example/",
        "followers": free.number(1_050, 98_900),
        "joined": free.moment(),
        "works": [{"title": free.title(), "text": free.paragraph(2)} for _ in range(free.number(3, 6))],
    }


def company(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a company with offices."""
    return {
        "id": 120 + number,
        "name": f"{fixed.name()} {fixed.noun().title()} Ltd",
        "about": free.paragraphs(3, 4),
        "trade": free.label(),
        "offices": [{"City": free.place(), "Staff": free.number(3, 4_000), "Lead": free.name()}
                    for _ in range(free.number(3, 7))],
    }  # fmt: skip


def recipe(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a dish."""
    title = f"{fixed.label().title()} nach Art von {fixed.place()}"
    return {
        "title": title,
        "slug": f"{slug_of(title)}-{number}",
        "intro": free.paragraph(3),
        "minutes": free.number(15, 190),
        "portions": free.number(2, 8),
        "ingredients": [{"amount": free.number(1, 500), "unit": free.pick("g", "ml", "EL"), "what": free.label()}
                        for _ in range(free.number(5, 9))],
        "steps": [free.paragraph(2) for _ in range(free.number(3, 6))],
    }  # fmt: skip


def event(number: int, fixed: Prose, free: Prose) -> Record:
    """Make an event."""
    title, when = fixed.title(), fixed.moment()
    return {"title": title, "slug": slug_of(title), "when": when, "sort": free.pick(*SORTS),
            "venue": free.place() + " Hall",
            "about": free.paragraphs(3, 5), "seats": free.number(20, 900),
            "speakers": [free.name() for _ in range(free.number(1, 4))]}  # fmt: skip


def job(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a job."""
    low = free.number(30, 90) * 1_000
    return {"id": 7_800 + 9 * number, "title": fixed.label().title() + " keeper", "kind": free.pick(*KINDS),
            "company": free.name() + " Group", "low": low, "high": low + free.number(5, 40) * 1_000,
            "text": free.paragraphs(4, 5), "remote": bool(free.number(0, 1))}  # fmt: skip


def film(number: int, fixed: Prose, free: Prose) -> Record:
    """Make a film."""
    return {"id": f"tt{fixed.number(100_000, 999_999)}", "title": f"The {fixed.label().title()} {number}",
            "year": free.number(1950, 2024), "minutes": free.number(70, 200), "genre": free.number(1, 3) * 10,
            "plot": free.paragraphs(3, 4), "tagline": free.sentence(),
            "cast": [{"actor": free.name(), "role": free.name()} for _ in range(free.number(4, 9))]}  # fmt: skip


def _short(count: int) -> str:
    return f"{count / 1000:.1f}K"


def _event_date(record: Record) -> str:
    when = record["when"]
    return f"{_DAYS[when.weekday()]}, {when:%d.%m.%Y}, {when:%H:%M}"


def _salary(record: Record) -> str:
    return f"{money(record['low'] * 100)[:-3]} to {money(record['high'] * 100)[:-3]} a year"


def _odata(record: Record) -> Any:
    return {"@odata.context": "/odata/$metadata#Companies/$entity", "CompanyId": record["id"], "Name": record["name"],
            "Description": "\n\n".join(record["about"]), "trade": record["trade"],
            "Offices": record["offices"], "IsActive": True}  # fmt: skip


PEOPLE = (
    Application(
        name="people",
        make=person,
        path=lambda one: f"/u/{one['login']}",
        api=(
            (
                r"/api/users/(\w+)",
                lambda store, ask, match: {
                    **{
                        key: value
                        for key, value in store.one("login", match[1]).items()
                        if key != "joined" and value is not None
                    },
                    "joined": f"{store.one('login', match[1])['joined']:%Y-%m}",
                },
            ),
        ),
        shown=lambda one: [
            *texts(one, "name", "login", "bio", "city", "works"),
            f"{_short(one['followers'])} followers",
            f"Member since {one['joined']:%Y}",
        ],
        key="bio",
        list_key="works",
        script="""
const one = await get('/api/users/' + part[1]);
document.title = `${one.name} (@${one.login})`;
root.innerHTML = `<h1>${h(one.name)}</h1><p>@${h(one.login)}</p><p class="bio">${h(one.bio)}</p><ul>
  ${one.city ? `<li>${h(one.city)}</li>` : ''}
  ${one.homepage ? `<li><a href="${h(one.homepage)}">Home page</a></li>` : ''}
  <li>${(one.followers / 1000).toFixed(1)}K followers</li><li>Member since ${one.joined.slice(0, 4)}</li></ul>
  <h2>Works</h2>${one.works.map((work) => `<h3>${h(work.title)}</h3><p>${h(work.text)}</p>`).join('')}`;
""",
    ),
    Application(
        name="companies",
        make=company,
        path=lambda one: f"/company/{one['id']}-{slug_of(one['name'])}",
        api=((r"/odata/Companies\((\d+)\)", lambda store, ask, match: _odata(store.one("id", match[1]))),),
        shown=lambda one: [
            *texts(one, "name", "about", "trade"),
            *(text for office in one["offices"] for text in (office["City"], office["Lead"], f"{office['Staff']:,}")),
        ],
        key="trade",
        list_key="Offices",
        shell=NAV,
        client="xhr",
        script="""
const one = await get(`/odata/Companies(${parseInt(part[1], 10)})?$expand=Offices`);
document.title = one.Name;
root.innerHTML = `<h1>${h(one.Name)}</h1><p><em>${h(one.trade)}</em></p>
  ${one.Description.split('\\n\\n').map((text) => `<p>${h(text)}</p>`).join('')}<h2>Offices</h2>
  <table><thead><tr><th>City</th><th>Staff</th><th>Lead</th></tr></thead><tbody>${one.Offices.map((office) => `<tr>
  <td>${h(office.City)}</td><td>${office.Staff.toLocaleString('en-US')}</td><td>${h(office.Lead)}</td></tr>`).join('')}
  </tbody></table>`;
""",
    ),
    Application(
        name="rezepte",
        make=recipe,
        language="de",
        path=lambda one: f"/rezepte/{one['slug']}",
        api=((r"/daten/rezepte/([\w-]+)", lambda store, ask, match: {"rezept": store.one("slug", match[1])}),),
        shown=lambda one: [
            *texts(one, "title", "intro", "steps"),
            f"für {one['portions']} Personen",
            *(f"{each['amount']} {each['unit']} {each['what']}" for each in one["ingredients"]),
        ],
        key="intro",
        list_key="steps",
        shell=DIV,
        script="""
const { rezept } = await get('/daten/rezepte/' + part[1]);
document.title = rezept.title + ' | Rezepte';
const stunden = Math.floor(rezept.minutes / 60);
root.innerHTML = `<main><h1>${h(rezept.title)}</h1><p>${h(rezept.intro)}</p>
  <p>${stunden ? stunden + ' Std. ' : ''}${rezept.minutes % 60} Min., für ${rezept.portions} Personen</p>
  <h2>Zutaten</h2>
  <ul>${rezept.ingredients.map((one) => `<li>${one.amount} ${one.unit} ${h(one.what)}</li>`).join('')}</ul>
  <h2>Zubereitung</h2><ol>${rezept.steps.map((text) => `<li>${h(text)}</li>`).join('')}</ol></main>`;
""",
    ),
    Application(
        name="events",
        make=event,
        path=lambda one: f"/event/{one['when']:%Y-%m-%d}/{one['slug']}",
        api=(
            (
                r"/api/events/(\d{4}-\d\d-\d\d)/([\w-]+)",
                lambda store, ask, match: {
                    **{
                        key: store.one("slug", match[2])[key]
                        for key in ("title", "sort", "venue", "about", "seats", "speakers")
                    },
                    "starts": f"{store.one('slug', match[2])['when']:%Y-%m-%dT%H:%M:00}",
                },
            ),
        ),
        shown=lambda one: [*texts(one, "title", "venue", "about", "speakers"), SORTS[one["sort"]], _event_date(one)],
        key="venue",
        list_key="about",
        script="""
const one = await get(`/api/events/${part[1]}/${part[2]}`);
const sorts = { talk: 'Talk', walk: 'Guided walk', show: 'Exhibition' };
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const [date, time] = one.starts.split('T');
const day = days[new Date(date + 'T00:00:00Z').getUTCDay()];
document.title = one.title;
root.innerHTML = `<h1>${h(one.title)}</h1><ul class="facts"><li>${sorts[one.sort]}</li>
  <li>${day}, ${date.split('-').reverse().join('.')}, ${time.slice(0, 5)}</li><li>${h(one.venue)}</li>
  <li>${one.seats} seats</li></ul>${one.about.map((text) => `<p>${h(text)}</p>`).join('')}
  <h2>With</h2><p>${one.speakers.map(h).join(', ')}</p>`;
""",
    ),
    Application(
        name="jobs",
        make=job,
        path=lambda one: f"/jobs/{one['id']}",
        api=(
            (
                r"/api/jobs/(\d+)",
                lambda store, ask, match: {
                    "posting": {
                        **{key: store.one("id", match[1])[key] for key in ("id", "title", "kind", "company", "remote")},
                        "salary": {
                            "min": store.one("id", match[1])["low"],
                            "max": store.one("id", match[1])["high"],
                            "unit": "YEAR",
                        },
                        "descriptionHtml": markup(store.one("id", match[1])["text"]),
                    }
                },
            ),
        ),
        shown=lambda one: [
            *texts(one, "title", "company", "text"),
            KINDS[one["kind"]],
            _salary(one),
            "Remote" if one["remote"] else "On site",
        ],
        key="company",
        shell=NAV,
        script="""
const { posting } = await get('/api/jobs/' + part[1]);
document.title = `${posting.title} at ${posting.company}`;
const kinds = { FULL_TIME: 'Full time', PART_TIME: 'Part time', CONTRACT: 'Contract' };
const dollars = (amount) => '$' + amount.toLocaleString('en-US');
root.innerHTML = `<h1>${h(posting.title)}</h1><p>${h(posting.company)}</p><p>${kinds[posting.kind]}</p>
  <p>${posting.remote ? 'Remote' : 'On site'}</p>
  <p>${dollars(posting.salary.min)} to ${dollars(posting.salary.max)} a year</p>
  <div class="description">${posting.descriptionHtml}</div><a href="/apply/${posting.id}">Apply now</a>`;
""",
    ),
    Application(
        name="films",
        make=film,
        path=lambda one: f"/film/{one['id']}",
        api=((r"/api", lambda store, ask, match: {"ok": 1, "film": store.one("id", ask.query["id"])}),),
        shown=lambda one: [
            *texts(one, "title", "plot", "cast", "tagline"),
            GENRES[one["genre"]],
            f"{one['minutes'] // 60} h {one['minutes'] % 60} min",
        ],
        key="tagline",
        list_key="cast",
        script="""
const { film } = await get('/api?do=film.full&id=' + part[1]);
document.title = `${film.title} (${film.year})`;
const genre = { 10: 'Drama', 20: 'Comedy', 30: 'Documentary' }[film.genre];
root.innerHTML = `<h1>${h(film.title)} <small>(${film.year})</small></h1><p><q>${h(film.tagline)}</q></p>
  <p>${genre}, ${Math.floor(film.minutes / 60)} h ${film.minutes % 60} min</p>
  ${film.plot.map((text) => `<p>${h(text)}</p>`).join('')}<h2>Cast</h2><table><tr><th>Actor</th><th>Role</th></tr>
  ${film.cast.map((one) => `<tr><td>${h(one.actor)}</td><td>${h(one.role)}</td></tr>`).join('')}</table>`;
""",
    ),
)
