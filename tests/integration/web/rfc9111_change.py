"""Cases of RFC 9111 and RFC 5861: what happens to kept answers as requests and answers come and sites fail."""

from __future__ import annotations

from protocol.browse import Freshness
from tests.integration.web.caching_case import (
    CHANGED,
    DOWN,
    ETAG,
    GONE,
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

VALIDATING = (
    case("4.3.1", "by its entity tag", STALE, V, after=61, sends=(("if-none-match", '"one"'),)),
    case(
        "4.3.1",
        "by its date",
        (*MINUTE, CHANGED),
        V,
        after=61,
        sends=(("if-modified-since", "{-1000}"), ("if-none-match", "")),
    ),
    case(
        "4.3.1",
        "by both",
        (*STALE, CHANGED),
        V,
        after=61,
        sends=(("if-modified-since", "{-1000}"), ("if-none-match", '"one"')),
    ),
    case("4.3.1", "by a weak tag", (*MINUTE, ("ETag", 'W/"one"')), V, after=61, sends=(("if-none-match", 'W/"one"'),)),
    case("4.3.1", "by nothing", MINUTE, F, after=61, sends=(("if-none-match", ""), ("if-modified-since", ""))),
    case("4.3.3", "a whole answer replaces what is kept", STALE, F, after=61, site=Origin(STALE, never_304=True)),
    flow(
        "4.3.3",
        "what was replaced is not given again",
        Step(F, site=Origin(STALE)),
        Step(F, 61, site=Origin(STALE, never_304=True)),
        Step(C, 59),
    ),
    flow(
        "4.3.3",
        "what was replaced by what may not be kept is gone",
        Step(F, site=Origin(STALE)),
        Step(F, 1, site=Origin((control("no-store"),), never_304=True), freshness=Freshness.REALTIME),
        Step(F, 1, site=Origin(STALE)),
    ),
    flow(
        "4.3.3",
        "a 404 takes the place of what is kept",
        Step(F, site=Origin(STALE)),
        Step(F, 61, site=Origin((control("no-store"),), 404)),
        Step(F, 1, site=Origin(STALE), freshness=Freshness.CACHED),
    ),
    flow(
        "4.3.4",
        "a 304 makes fresh again",
        Step(F, site=Origin(STALE)),
        Step(V, 61, site=Origin(STALE)),
        Step(C, 59, age=59),
    ),
    flow(
        "4.3.4",
        "a 304 brings new fields",
        Step(F, site=Origin(STALE)),
        Step(V, 61, site=Origin(STALE, fields_304=(control("max-age=600"), ETAG))),
        Step(C, 500),
    ),
    flow(
        "4.3.4",
        "a 304 without a lifetime leaves the old one",
        Step(F, site=Origin(STALE)),
        Step(V, 61, site=Origin(STALE, fields_304=(ETAG,))),
        Step(C, 59),
        Step(V, 2, site=Origin(STALE)),
    ),
    flow(
        "4.3.4",
        "the age of a 304 is its own",
        Step(F, site=Origin((*STALE, ("Age", "50")))),
        Step(V, 11, site=Origin(STALE, fields_304=(*STALE, ("Age", "20")))),
        Step(C, 39, age=59),
    ),
    flow(
        "4.3.4",
        "a 304 without an age has none",
        Step(F, site=Origin((*STALE, ("Age", "50")))),
        Step(V, 11, site=Origin(STALE)),
        Step(C, 59, age=59),
    ),
    flow(
        "4.3.4",
        "a 304 for another tag is no answer",
        Step(F, site=Origin(STALE)),
        Step(F, 61, site=Origin(STALE, fields_304=(*MINUTE, ("ETag", '"two"')))),
    ),
    flow(
        "4.3.4",
        "a 304 without validators is for what is kept",
        Step(F, site=Origin(STALE)),
        Step(V, 61, site=Origin(STALE, fields_304=MINUTE)),
        Step(C, 59),
    ),
    flow(
        "5.2.2.4",
        "no-cache can come with a 304",
        Step(F, site=Origin(STALE)),
        Step(V, 61, site=Origin(STALE, fields_304=(control("no-cache"), ETAG))),
        Step(V, 0, site=Origin(STALE)),
    ),
    case(
        "4.3.2",
        "a request with conditions of its own passes by",
        MINUTE,
        F,
        after=1,
        ask=(("If-None-Match", '"mine"'),),
        sends=(("if-none-match", '"mine"'),),
    ),
)

LANGUAGE = (*STALE, ("Vary", "Accept-Language"))
EN, DE = (("Accept-Language", "en"),), (("Accept-Language", "de"),)

VARY = (
    case("4.1", "the same fields", LANGUAGE, C, first=EN, ask=EN),
    case("4.1", "another field", LANGUAGE, F, first=EN, ask=DE),
    case("4.1", "the field is there no more", (*MINUTE, ("Vary", "X-Loom")), F, first=(("X-Loom", "a"),)),
    case("4.1", "the field was not there", (*MINUTE, ("Vary", "X-Loom")), F, ask=(("X-Loom", "a"),)),
    case("4.1", "the field is in neither", (*MINUTE, ("Vary", "X-Loom")), C),
    case("4.1", "any field may be named in any case", (*MINUTE, ("Vary", "ACCEPT-language")), C, first=EN, ask=EN),
    case("4.1", "another field of two", (*MINUTE, ("Vary", "Accept, Accept-Language")), F, first=EN, ask=DE),
    case("4.1", "another field of two Varys", (*MINUTE, ("Vary", "Accept"), ("Vary", "Accept-Language")), F, ask=DE),
    case("4.1", "a star matches nothing", (*STALE, ("Vary", "*")), F),
    case("4.1", "a star among others", (*STALE, ("Vary", "Accept, *")), F),
    case(
        "4.1",
        "blanks about commas make no difference",
        LANGUAGE,
        C,
        first=(("Accept-Language", "en, de"),),
        ask=(("Accept-Language", "en,de"),),
    ),
    flow(
        "4.1",
        "several variants are kept",
        Step(F, ask=EN, site=Origin(LANGUAGE)),
        Step(F, ask=DE, site=Origin(LANGUAGE)),
        Step(C, 1, ask=EN),
        Step(C, 1, ask=DE),
    ),
    flow(
        "4.1",
        "a variant takes the place of its own kind",
        Step(F, ask=EN, site=Origin(LANGUAGE)),
        Step(F, ask=DE, site=Origin(LANGUAGE)),
        Step(F, 1, ask=EN, site=Origin(LANGUAGE, never_304=True), freshness=Freshness.REALTIME),
        Step(C, 1, ask=DE),
        Step(C, 1, ask=EN),
    ),
    flow(
        "4",
        "of two that fit, the newer",
        Step(F, ask=EN, site=Origin(LANGUAGE)),
        Step(F, 1, ask=DE, site=Origin((control("max-age=600"), ETAG))),
        Step(C, 60, ask=EN, body=2),
    ),
)

ERRORS = (
    case(
        "RFC 5861 4",
        "instead of 503",
        (control("max-age=60, stale-if-error=60"), ETAG),
        Then.INSTEAD,
        after=90,
        site=DOWN,
    ),
    case(
        "RFC 5861 4",
        "instead of 500",
        (control("max-age=60, stale-if-error=60"), ETAG),
        Then.INSTEAD,
        after=90,
        site=Origin(status=500),
    ),
    case(
        "RFC 5861 4",
        "instead of a broken connection",
        (control("max-age=60, stale-if-error=60"), ETAG),
        Then.INSTEAD,
        after=90,
        site=GONE,
    ),
    case(
        "RFC 5861 4", "not for ever", (control("max-age=60, stale-if-error=60"), ETAG), Then.ERROR, after=121, site=DOWN
    ),
    case("RFC 5861 4", "not unless it is said", STALE, Then.ERROR, after=61, site=DOWN),
    case("4.2.4", "not unless it is said, when broken", STALE, Then.ERROR, after=61, site=GONE),
    case(
        "RFC 5861 4",
        "not instead of 404",
        (control("max-age=60, stale-if-error=60"), ETAG),
        Then.ERROR,
        after=61,
        site=Origin(status=404),
    ),
    case(
        "5.2.2.2",
        "must-revalidate outweighs stale-if-error",
        (control("max-age=60, must-revalidate, stale-if-error=60"), ETAG),
        Then.ERROR,
        after=61,
        site=DOWN,
    ),
    case(
        "5.2.2.4",
        "no-cache outweighs stale-if-error",
        (control("no-cache, stale-if-error=60"), ETAG),
        Then.ERROR,
        after=1,
        site=DOWN,
    ),
    case(
        "5.2.1.4",
        "who wants no cache gets the error",
        (control("max-age=60, stale-if-error=60"), ETAG),
        Then.ERROR,
        after=61,
        site=DOWN,
        freshness=Freshness.REALTIME,
    ),
    case(
        "RFC 5861 4",
        "the request may allow it",
        STALE,
        Then.INSTEAD,
        after=90,
        site=DOWN,
        ask=(control("stale-if-error=60"),),
    ),
    flow(
        "4.3.3",
        "an error does not take away what is kept",
        Step(F, site=Origin(STALE)),
        Step(Then.ERROR, 61, site=DOWN),
        Step(V, 1, site=Origin(STALE)),
    ),
)

OTHER = "/other"

CHANGING = (
    *(
        flow(
            "4.4",
            f"{method} makes invalid",
            Step(F, site=Origin(MINUTE)),
            Step(F, 1, method=method),
            Step(F, 1, site=Origin(MINUTE)),
        )
        for method in ("POST", "PUT", "DELETE", "PATCH", "WEAVE")
    ),
    *(
        flow("9.2.1", f"{method} is safe", Step(F, site=Origin(MINUTE)), Step(F, 1, method=method), Step(C, 1))
        for method in ("HEAD", "OPTIONS")
    ),
    flow(
        "4.4",
        "a redirect after it makes invalid, too",
        Step(F, site=Origin(MINUTE)),
        Step(F, 1, method="POST", site=Origin(status=303, fields=(("Location", "/elsewhere"),))),
        Step(F, 1, site=Origin(MINUTE)),
    ),
    *(
        flow(
            "4.4",
            f"{status} makes nothing invalid",
            Step(F, site=Origin(MINUTE)),
            Step(Then.ERROR, 1, method="POST", site=Origin(status=status)),
            Step(C, 1),
        )
        for status in (400, 500)
    ),
    *(
        flow(
            "4.4",
            f"what {field} names is invalid, too",
            Step(F, site=Origin(MINUTE), path=OTHER),
            Step(F, 1, method="POST", site=Origin(((field, f"{{path}}{OTHER}"),), 201)),
            Step(F, 1, site=Origin(MINUTE), path=OTHER),
        )
        for field in ("Location", "Content-Location")
    ),
    flow(
        "4.4",
        "what it names of another host is not",
        Step(F, site=Origin(MINUTE), path=OTHER),
        Step(F, 1, method="POST", site=Origin((("Location", f"http://elsewhere.example{{path}}{OTHER}"),), 201)),
        Step(C, 1, path=OTHER),
    ),
    flow(
        "4.4",
        "another page stays as it is",
        Step(F, site=Origin(MINUTE), path=OTHER),
        Step(F, 1, method="POST"),
        Step(C, 1, path=OTHER),
    ),
    flow("9.3.3", "POST is not given from the cache", *(Step(F, method="POST", site=Origin(MINUTE)) for _ in range(2))),
    flow(
        "1",
        "a session has a cache of its own",
        Step(F, site=Origin(MINUTE), partition="a"),
        Step(F, 1, site=Origin(MINUTE), partition="b"),
        Step(C, 1, partition="a"),
    ),
    flow(
        "3.5",
        "without a session nobody gets what others were authorized for",
        Step(F, ask=(("Authorization", "a"),), site=Origin(MINUTE)),
        Step(F, 1, ask=(("Authorization", "b"),), site=Origin(MINUTE)),
    ),
)

CHANGE = (*VALIDATING, *VARY, *ERRORS, *CHANGING)
