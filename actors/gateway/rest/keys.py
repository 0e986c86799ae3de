"""The endpoints of the keys: give one out, list them, take one back."""

from __future__ import annotations

from starlette.responses import Response

from actors.gateway.access import keys
from actors.gateway.access.caller import Scope
from actors.gateway.access.keys import AddKey, NamedKey
from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.contract import Endpoint
from protocol.access import KeyInfo, KeysAnswer, NewKey

_NOT_KEPT = {"Cache-Control": "no-store"}


async def _add(app: AppContext, request: RequestContext, arguments: AddKey) -> Response:
    return answer(await keys.add_key(app.bus, app.keys, request.caller, arguments), headers=_NOT_KEPT)


async def _list(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(keys.list_keys(app.keys))


async def _revoke(app: AppContext, _request: RequestContext, arguments: NamedKey) -> Response:
    return answer(await keys.revoke_key(app.bus, app.keys, arguments))


_INSIDE = frozenset({500, 503, 504})
_EXAMPLE_KEY = {"id": "laptop"}
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/keys",
        name="listKeys",
        summary="List the keys that were given out; none of them is shown.",
        run=_list,
        answer=KeysAnswer,
        scope=Scope.OPERATE,
        errors=_INSIDE,
    ),
    Endpoint(
        method="POST",
        path="/api/keys",
        name="addKey",
        summary="Make a key, with scopes of your own at most; it is shown this once.",
        run=_add,
        body=AddKey,
        answer=NewKey,
        scope=Scope.OPERATE,
        errors=_INSIDE | {409},
        example={"name": "laptop", "scopes": ["browse"]},
    ),
    Endpoint(
        method="DELETE",
        path="/api/keys/{id}",
        name="revokeKey",
        summary="Take a key back, by its id or its name; within a second no gateway lets it in.",
        run=_revoke,
        params=NamedKey,
        answer=KeyInfo,
        scope=Scope.OPERATE,
        errors=_INSIDE | {404},
        example=_EXAMPLE_KEY,
    ),
)
