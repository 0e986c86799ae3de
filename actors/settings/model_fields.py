"""The settings of models and of learning: who is asked, what may be spent, and what is learned."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from actors.settings.fields import SystemSettings


class ModelSettings(SystemSettings, frozen=True, kw_only=True):
    """What an operator may choose of models."""

    routing_file: Annotated[
        str,
        Meta(
            description="TOML file of routes, models and ladders, in the form of config/routing.toml, which it adds to "
            "and wins over; a change counts at once. Empty: routing.toml in the data folder, if there is one."
        ),
    ] = ""
    model_day_cents: Annotated[
        int, Meta(ge=0, le=100_000_000, description="US cents that all calls of models may cost a day (UTC); 0: any.")
    ] = 2_000
    model_key_day_cents: Annotated[
        int,
        Meta(ge=0, le=100_000_000, description="US cents of those that the calls of one key may cost a day; 0: any."),
    ] = 0
    model_run_cents: Annotated[
        int, Meta(ge=0, le=100_000_000, description="US cents that the calls of one run may cost; 0: any.")
    ] = 0
    model_unpriced_calls: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000_000,
            description="Calls a day of models that have no known price, which no other limit counts; 0: any number.",
        ),
    ] = 5_000
    answer_window_tokens: Annotated[
        int,
        Meta(
            ge=1_000,
            le=1_000_000,
            description="Tokens of pages that a model is given at once for an answer; more is read in parts.",
        ),
    ] = 24_000
    pattern_learning: Annotated[
        bool,
        Meta(description="Learn from the APIs that pages are made from, and ask them in the place of a page."),
    ] = True
    pattern_verify_hours: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Hours after which a page is rendered once to see whether its API still says the same, where "
            "that was used meanwhile; 0: never.",
        ),
    ] = 6
    pattern_probes: Annotated[
        int,
        Meta(
            ge=0,
            le=100,
            description="How often a day a site whose pages were read is asked for a description of its API (OpenAPI, "
            "AsyncAPI, GraphQL); 0: never.",
        ),
    ] = 4
    learning_policy: Annotated[
        Literal["documented", "economic", "off"],
        Meta(
            description="How routes are learned from calls. documented: a stronger model below 70 % of success, a "
            "cheaper one after a test; economic: the model whose calls cost least, failures included; off: what was "
            "learned stays, and nothing is added."
        ),
    ] = "documented"
    learning_interval_ms: Annotated[
        int, Meta(ge=100, le=86_400_000, description="Milliseconds between two looks at the calls.")
    ] = 60_000
    learning_sequential_tests: Annotated[
        bool,
        Meta(
            description="Whether the documented policy tests a cheaper model with 10 to 60 calls, as many as it takes "
            "to be sure, instead of 10."
        ),
    ] = False
    learning_failure_cost: Annotated[
        float,
        Meta(
            ge=0.0,
            le=10_000.0,
            description="What a failed call costs in the economic policy, in calls of the cheapest model.",
        ),
    ] = 20.0
