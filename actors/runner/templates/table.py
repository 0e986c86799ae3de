"""The table of templates: each is one file beside this one and one line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import UNSET

from actors.runner.template import TaskTemplate
from actors.runner.templates.batch_extract_pages import BATCH
from actors.runner.templates.crawl_site import CRAWL
from actors.runner.templates.login_keep_session import LOGIN
from actors.runner.templates.multi_tab_compare import COMPARE
from actors.runner.templates.replay_flow import REPLAY
from protocol.runs import responses
from protocol.schemas import schema

Catalogue = Mapping[str, TaskTemplate[Any]]
"""Templates by their ids."""


def catalogue(templates: Iterable[TaskTemplate[Any]]) -> Catalogue:
    """Return templates by their ids."""
    return MappingProxyType({one.template_id: one for one in templates})


TEMPLATES: Catalogue = catalogue((BATCH, LOGIN, COMPARE, CRAWL, REPLAY))
"""Every template of Weft."""


def described(template: TaskTemplate[Any]) -> responses.Template:
    """Return a template as the list of them shows it (002 §3)."""
    return responses.Template(
        template_id=template.template_id,
        version=template.version,
        name=template.name,
        trust_level_support=template.trust,
        limits=template.limits,
        inputs_schema=schema(template.inputs),
        outputs_schema=schema(template.outputs),
        supports_partial_success=template.threshold is not None,
        execution_mode=template.execution,
        description=template.description,
        steps=template.step_names,
        partial_success_threshold=UNSET if template.threshold is None else template.threshold,
    )
