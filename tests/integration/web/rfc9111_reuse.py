"""Cases of RFC 9111: which answers are kept, and for how long they are given again."""

from __future__ import annotations

from protocol.browse import Freshness
from tests.integration.web.caching_case import (
    CHANGED,
    ETAG,
    MINUTE,
    STALE,
    C,
    F,
    Origin,
    Step,
    Then,
    V,
    case,
    control,
    flow,
)

FRESHNESS = (
    case("4.2", "fresh while the lifetime exceeds the age", MINUTE, C, after=59, age=59),
    case("4.2", "stale once the age is the lifetime", MINUTE, F, after=60),
    case("4.2", "stale from the start", (control("max-age=0"), ETAG), V, after=0),
    case("4.2.1", "max-age outweighs Expires", (control("max-age=60"), ("Expires", "{-10}")), C, after=30),
    case("4.2.1", "max-age outweighs a later Expires", (control("max-age=10"), ("Expires", "{+60}")), F, after=30),
    case("4.2.1", "Expires less Date", (("Date", "{+0}"), ("Expires", "{+60}")), C, after=59),
    case("4.2.1", "Expires less Date is over", (("Date", "{+0}"), ("Expires", "{+60}")), F, after=61),
    case("4.2.1", "Expires without Date counts from its arrival", (("Expires", "{+60}"),), C, after=59),
    case("4.2.1", "Expires without Date is over", (("Expires", "{+60}"),), F, after=61),
    case("4.2.1", "Expires equal to Date is stale", (("Date", "{+0}"), ("Expires", "{+0}")), F),
    case("4.2.1", "a lifetime that is no number is stale", (control("max-age=soon"), ("Expires", "{+60}")), F),
    case("4.2.1", "a negative lifetime is stale", (control("max-age=-5"), ("Expires", "{+60}")), F),
    case("4.2.1", "a lifetime with a fraction is stale", (control("max-age=60.5"),), F),
    case("4.2.1", "of two lifetimes the first counts", (control("max-age=10, max-age=60"),), F, after=30),
    case("4.2.1", "of two fields the first counts", (control("max-age=60"), control("max-age=10")), C, after=30),
    case("4.2.1", "a private cache knows no s-maxage", (control("s-maxage=600, max-age=10"),), F, after=30),
    case("4.2.1", "s-maxage takes nothing from max-age", (control("s-maxage=0, max-age=60"),), C, after=30),
    case("1.2.2", "a lifetime beyond counting is long", (control("max-age=99999999999"),), C, after=9_999_999),
    case("5.2", "a lifetime in quotes", (control('max-age="60"'),), C, after=59),
    case("5.2", "directives in any case", (control("MAX-AGE=60"),), C, after=59),
    case("5.2", "directives over several fields", (control("public"), control("max-age=60")), C, after=59),
    case("5.2.3", "directives that nobody knows are passed over", (control("weave=3, max-age=60, warp"),), C, after=59),
    case("5.3", "Expires that is no date lies in the past", (("Expires", "0"), ETAG), V),
    case("5.3", "Expires of an older form", (("Date", "{+0}"), ("Expires", "Sun Nov  6 08:49:37 2095")), C, after=59),
)

AGE = (
    case("4.2.3", "Age counts towards the age", (*MINUTE, ("Age", "50")), F, after=10),
    case("4.2.3", "Age and what has passed since", (*MINUTE, ("Age", "50")), C, after=9, age=59),
    case("4.2.3", "an old Date counts towards the age", (*MINUTE, ("Date", "{-50}")), F, after=10),
    case("4.2.3", "an old Date and what has passed since", (*MINUTE, ("Date", "{-50}")), C, after=9, age=59),
    case("4.2.3", "the larger of Age and Date", (*MINUTE, ("Age", "40"), ("Date", "{-50}")), C, after=5, age=55),
    case("4.2.3", "a Date of the future is no age", (*MINUTE, ("Date", "{+50}")), C, after=59, age=59),
    case("5.1", "Age beyond the lifetime is stale", (*MINUTE, ("Age", "61"), ETAG), V),
    case("5.1", "Age that is no number is passed over", (*MINUTE, ("Age", "old")), C, after=59),
    case("5.1", "Age below nothing is passed over", (*MINUTE, ("Age", "-7")), C, after=59),
    case("5.1", "of several ages the first", (*MINUTE, ("Age", "10, 50")), C, after=30, age=40),
    case("6.6.1", "an answer without a Date is dated by its arrival", (*MINUTE, ETAG), V, after=61),
    case("6.6.1", "a Date that is none is replaced by its arrival", (*MINUTE, ("Date", "today"), ETAG), V, after=61),
)

HEURISTICS = (
    case("4.2.2", "a tenth of the time since the last change", (CHANGED,), C, after=99),
    case("4.2.2", "no longer than a tenth", (CHANGED,), V, after=101),
    case(
        "4.2.2", "counted from its Date, not from now", (("Last-Modified", "{-1000}"), ("Date", "{+0}")), V, after=105
    ),
    case("4.2.2", "a week at most", (("Last-Modified", "{-99999999}"),), V, after=700_000),
    case("4.2.2", "not where a lifetime is given", (control("max-age=10"), CHANGED), V, after=50),
    case("4.2.2", "not where Expires is given", (("Expires", "{-1}"), CHANGED), V, after=50),
    case("4.2.2", "nothing says when it changed", (), F),
    case("4.2.2", "a change in the future", (("Last-Modified", "{+1000}"),), V, after=1),
    case("4.2.2", "404 is such a status", (CHANGED,), C, after=50, status=404),
    case("4.2.2", "410 is such a status", (CHANGED,), C, after=50, status=410),
    case("4.2.2", "301 is such a status", (CHANGED, ("Location", "/elsewhere")), C, after=50, status=301),
    case("4.2.2", "302 is none", (CHANGED, ("Location", "/elsewhere")), F, after=50, status=302),
    case("4.2.2", "500 is none", (CHANGED,), F, after=50, status=500),
    case("4.2.2", "403 is one if it is public", (CHANGED, control("public")), C, after=50, status=403),
    case("4.2.2", "403 is none if it is private", (CHANGED, control("private")), F, after=50, status=403),
)

STORING = (
    case("3", "no-store of the answer", (control("no-store, max-age=60"),), F),
    case("3", "no-store of the request", MINUTE, F, first=(control("no-store"),)),
    case("3", "503 with a lifetime is kept", MINUTE, C, status=503),
    case("3", "302 with a lifetime is kept", (*MINUTE, ("Location", "/elsewhere")), C, after=50, status=302),
    case("3", "204 is kept", MINUTE, C, after=50, status=204),
    case("3", "400 with nothing said is not kept", (ETAG,), F, status=400),
    case("3", "400 with Expires is kept", (("Expires", "{+60}"),), C, status=400),
    case("3.3", "part of an answer is not kept", (*MINUTE, ("Content-Range", "bytes 0-2/3")), F, status=206),
    case("5.2.2.7", "private is not for everybody", (control("private, max-age=60"),), F, after=59),
    flow(
        "5.2.2.7",
        "private is for the cache of a session",
        Step(F, site=Origin((control("private, max-age=60"),)), partition="a"),
        Step(C, 1, partition="a"),
        Step(F, 2, partition="b"),
    ),
    case("5.2.2.9", "public", (control("public, max-age=60"),), C, after=59),
    case("5.2.2.3", "must-understand outweighs no-store", (control("must-understand, no-store, max-age=60"),), C),
    case("5.2.2.5", "no-store with a lifetime and validators", (control("max-age=60, no-store"), ETAG), F),
    flow(
        "3.5",
        "a private cache keeps what was authorized",
        Step(F, ask=(("Authorization", "a"),), site=Origin(MINUTE), partition="a"),
        Step(C, 1, ask=(("Authorization", "a"),), partition="a"),
    ),
)

NO_CACHE = (
    case("5.2.2.4", "no-cache is always confirmed", (control("no-cache, max-age=60"), ETAG), V),
    case("5.2.2.4", "no-cache cannot be confirmed without validators", (control("no-cache, max-age=60"),), F),
    case("5.2.2.4", "no-cache for a field is not for the rest", (control('no-cache="set-cookie", max-age=60'),), C),
    case("5.2.2.2", "must-revalidate while fresh", (control("must-revalidate, max-age=60"), ETAG), C, after=59),
    case("5.2.2.2", "must-revalidate once stale", (control("must-revalidate, max-age=60"), ETAG), V, after=60),
    case(
        "5.2.2.2",
        "must-revalidate outweighs max-stale",
        (control("must-revalidate, max-age=60"), ETAG),
        V,
        after=61,
        ask=(control("max-stale=100"),),
    ),
    case(
        "5.2.2.2",
        "must-revalidate outweighs what was cached",
        (control("must-revalidate, max-age=60"), ETAG),
        V,
        after=61,
        freshness=Freshness.CACHED,
    ),
    case(
        "5.2.2.8",
        "proxy-revalidate is nothing to a private cache",
        (control("proxy-revalidate, max-age=60"), ETAG),
        C,
        after=61,
        ask=(control("max-stale=100"),),
    ),
    case("5.2.2.4", "no-cache outweighs max-stale", (control("no-cache"), ETAG), V, ask=(control("max-stale"),)),
)

ASKING = (
    case("5.2.1.4", "no-cache of the request", STALE, V, after=1, ask=(control("no-cache"),)),
    case("5.2.1.4", "no-cache of the request without validators", MINUTE, F, after=1, ask=(control("no-cache"),)),
    case("5.2.1.1", "older than the request wants", STALE, V, after=30, ask=(control("max-age=20"),)),
    case("5.2.1.1", "as young as the request wants", STALE, C, after=20, ask=(control("max-age=20"),)),
    case("5.2.1.1", "max-age=0 of the request", STALE, V, after=1, ask=(control("max-age=0"),)),
    case("5.2.1.3", "not fresh for long enough", STALE, V, after=30, ask=(control("min-fresh=40"),)),
    case("5.2.1.3", "fresh for long enough", STALE, C, after=10, ask=(control("min-fresh=40"),)),
    case("5.2.1.2", "stale as the request allows", STALE, C, after=90, ask=(control("max-stale=30"),), age=90),
    case("5.2.1.2", "staler than the request allows", STALE, V, after=91, ask=(control("max-stale=30"),)),
    case("5.2.1.2", "however stale", STALE, C, after=9_999, ask=(control("max-stale"),)),
    case("4.2.4", "stale is not given unasked", STALE, V, after=61),
    case("5.2.1.7", "only what is kept, and it is", MINUTE, C, after=30, ask=(control("only-if-cached"),)),
    case(
        "5.2.1.7", "only what is kept, and it is stale", STALE, Then.NOTHING, after=61, ask=(control("only-if-cached"),)
    ),
    flow("5.2.1.7", "only what is kept, and nothing is", Step(Then.NOTHING, ask=(control("only-if-cached"),))),
    case("000", "realtime asks the site", STALE, V, freshness=Freshness.REALTIME),
    case("000", "realtime without validators", MINUTE, F, freshness=Freshness.REALTIME),
    case("000", "any takes what is fresh", STALE, C, after=59, freshness=Freshness.ANY),
    case("000", "any asks for what is stale", STALE, V, after=61, freshness=Freshness.ANY),
    case("000", "cached takes what is stale", STALE, C, after=9_999, freshness=Freshness.CACHED),
    flow("000", "cached with nothing kept asks the site", Step(F, site=Origin(STALE), freshness=Freshness.CACHED)),
    flow(
        "000",
        "realtime refreshes what is kept",
        Step(F, site=Origin(MINUTE)),
        Step(F, 50, site=Origin(MINUTE), freshness=Freshness.REALTIME),
        Step(C, 50, age=50),
    ),
)

REUSE = (*FRESHNESS, *AGE, *HEURISTICS, *STORING, *NO_CACHE, *ASKING)
