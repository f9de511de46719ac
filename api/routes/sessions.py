"""The routes of the web page's session: a key is exchanged for a cookie, and the cookie is deleted.

`api.routes.sign_in` has the addresses of the other way in, an identity provider.
"""

from http import HTTPStatus
from importlib.metadata import version
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response

from api.access.issuer import Provider
from api.access.keys import ANY, OPEN, PROVIDER_PATH, SESSION_PATH, Caller, Keyring, caller_of
from api.access.limits import Attempts
from api.access.sessions import Sessions, refuse_foreign_page
from api.deps import ContainerDep, json_response
from api.problems import problem
from api.schemas.sessions import KeyIn, ProviderOut, SessionOut, SignedInOut
from core.errors import Forbidden
from core.keys import Scope

_Shown = TypeVar("_Shown", bound=SignedInOut)

router = APIRouter(prefix=SESSION_PATH, tags=["session"])


@router.post("", dependencies=[OPEN], summary="Exchange a key for a session", response_model=SignedInOut)
async def begin_session(body: KeyIn, request: Request) -> Response:
    """Sets a cookie that the web page of this server sends in place of the key. Programs send their key itself.

    After ten wrong keys of one address in a minute, 429 for a wrong key, and for one of fewer than 16 characters.
    """
    _check_page(request)
    attempts: Attempts = request.app.state.attempts
    keyring: Keyring = request.app.state.keyring
    sessions: Sessions = request.app.state.sessions
    address = request.client.host if request.client else ""
    await keyring.refresh()
    key = body.key.strip()
    caller = attempts.judge(address, keyring.find(key), guessable=keyring.is_guessable(key))
    if isinstance(caller, str):
        return problem(HTTPStatus.UNAUTHORIZED, caller, instance=SESSION_PATH, headers={"WWW-Authenticate": "Bearer"})
    session = await sessions.begin(key, caller)
    response = json_response(_describe(caller, SignedInOut, expires_at=session.expires_at))
    sessions.set_cookie(request.scope, response, session)
    return response


@router.get("", dependencies=[ANY], summary="What the caller may do")
async def show_session(request: Request, container: ContainerDep) -> SessionOut:
    """Also with a key, and on a server that needs none. 401 without a session on a server that needs one."""
    keyring: Keyring = request.app.state.keyring
    settings = container.settings
    caller = caller_of(request.scope)
    return _describe(
        caller,
        SessionOut,
        expires_at=caller.expires_at,
        needs_key=keyring.needs_key,
        provider=_name_provider(request) if caller.is_of_token else None,
        model=bool(settings.llm.model),
        web=bool(settings.web.kind),
        neo4j_browser=settings.neo4j.browser_url or None,
        version=version("hopweave"),
    )


@router.get(PROVIDER_PATH.removeprefix(SESSION_PATH), dependencies=[OPEN], summary="Who signs people in")
async def show_provider(request: Request) -> ProviderOut:
    """Whether people may sign in to the web page at an identity provider, and its name there."""
    return ProviderOut(name=_name_provider(request))


@router.delete("", dependencies=[OPEN], status_code=HTTPStatus.NO_CONTENT, summary="End the session")
async def end_session(request: Request) -> Response:
    """Deletes the cookie, also where there is none. Who has copied it can use it until it expires, or the key does."""
    _check_page(request)
    response = Response(status_code=HTTPStatus.NO_CONTENT)
    sessions: Sessions = request.app.state.sessions
    sessions.delete_cookie(request.scope, response)
    return response


def _name_provider(request: Request) -> str | None:
    provider: Provider | None = request.app.state.provider
    return None if provider is None else provider.name


def _check_page(request: Request) -> None:
    """Raises `Forbidden` for a request of a foreign page."""
    public_url: str = request.app.state.settings.api.public_url
    if (why := refuse_foreign_page(request.scope, request.headers, public_url)) is not None:
        raise Forbidden(why)


def _describe(caller: Caller, schema: type[_Shown], **more: Any) -> _Shown:
    access = caller.access
    return schema(
        id=access.key,
        name=caller.name or None,
        scopes=[scope for scope in Scope if access.has(scope)],
        corpora=None if access.corpora is None else sorted(access.corpora),
        **more,
    )
