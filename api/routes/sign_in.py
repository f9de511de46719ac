"""The addresses by which a browser signs in to the web page at an identity provider, and signs out there.

They are addresses that a browser goes to, and no calls: each answers with the address to go on to. What fails is said
by the view of the sign-in, which has a sentence for each `Refusal`: no text of a request or of the provider is shown.
"""

import logging
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.access.issuer import Provider, Refusal, SignInRefused
from api.access.keys import Caller
from api.access.limits import network_of
from api.access.sessions import Session, Sessions
from api.access.signing_in import ATTEMPT_COOKIE, ATTEMPT_SECONDS, Attempt, begin_attempt, own_view, read_attempt
from api.access.tokens import Tokens, own_address
from core.errors import NotFound, Unavailable
from core.settings import Settings
from core.telemetry.logs import log_event

_log = logging.getLogger("hopweave.api")

_CALLBACK = "/sign-in/callback"
_VIEW = "/sign-in"
_LONGEST_CODE = 4_096
_DENIED = frozenset({"access_denied", "login_required", "consent_required", "interaction_required"})
_DOWN = frozenset({"server_error", "temporarily_unavailable"})

router = APIRouter(include_in_schema=False)


async def begin_sign_in(request: Request) -> Response:
    """Sends a browser to the provider, with a cookie by which it is known when it comes back."""
    provider, sessions = _find_provider(request), _sessions(request)
    wanted = request.query_params.get("next", "")
    try:
        attempt = begin_attempt(await sessions.secret.make(), wanted)
        address = await provider.locate_sign_in(
            redirect=_own(request) + _CALLBACK,
            state=attempt.state,
            nonce=attempt.nonce,
            challenge=attempt.challenge,
        )
    except SignInRefused as refused:
        return _refuse(refused, own_view(wanted))
    response = RedirectResponse(address, HTTPStatus.SEE_OTHER)
    # The browser comes from the provider, and sends a `strict` cookie to nobody then.
    sessions.set_named(request.scope, response, ATTEMPT_COOKIE, attempt.value, ATTEMPT_SECONDS, samesite="lax")
    return response


async def end_sign_in(request: Request) -> Response:
    """Begins a session of the person who comes back from the provider with a code."""
    _find_provider(request)
    attempt = await _find_attempt(request)
    if attempt is None:
        # The cookie stays: a link of somebody else ends no sign-in that is under way.
        return _refuse(SignInRefused(Refusal.STATE, "the browser has not begun this sign-in"), "/")
    sessions = _sessions(request)
    try:
        session = await _sign_in(request, attempt)
    except SignInRefused as refused:
        response: Response = _refuse(refused, attempt.next)
    else:
        response = RedirectResponse(attempt.next, HTTPStatus.SEE_OTHER)
        sessions.set_cookie(request.scope, response, session)
    sessions.set_named(request.scope, response, ATTEMPT_COOKIE, "", 0, samesite="lax")
    return response


async def sign_out(request: Request) -> Response:
    """Sends a browser to where the provider signs it out, or else to the view of the sign-in. The session has ended."""
    provider = _find_provider(request)
    address = own_address(request, _settings(request).api)
    there = await provider.locate_sign_out(f"{address}{_VIEW}" if address else "")
    return RedirectResponse(there or _VIEW, HTTPStatus.SEE_OTHER)


# Not as routes of the API, which know all their parameters: providers add some of their own.
router.add_route("/sign-in/provider", begin_sign_in, methods=["GET"])
router.add_route(_CALLBACK, end_sign_in, methods=["GET"])
router.add_route("/sign-in/end", sign_out, methods=["GET"])


async def _find_attempt(request: Request) -> Attempt | None:
    """Returns the sign-in that this browser comes back from; None if it has begun none, or another one."""
    sessions = _sessions(request)
    values, secret = sessions.read_named(request.scope, request.headers, ATTEMPT_COOKIE), await sessions.secret.read()
    if secret is None or len(values) != 1:
        return None
    attempt, state = read_attempt(secret, values[0]), _parameter(request, "state")
    return attempt if attempt is not None and state and attempt.is_answered_by(state) else None


async def _sign_in(request: Request, attempt: Attempt) -> Session:
    """Raises `SignInRefused`."""
    tokens, issuer = _tokens(request), _settings(request).oidc.issuer
    if _parameter(request, "iss") not in (None, issuer):
        raise SignInRefused(Refusal.ANSWER, "the browser comes from another issuer")
    if (error := _parameter(request, "error")) is not None:
        raise _read_error(error)
    code = _parameter(request, "code") or ""
    if not 0 < len(code) <= _LONGEST_CODE:
        raise SignInRefused(Refusal.CODE, "the browser comes back without a code")
    provider, redirect = _find_provider(request), _own(request) + _CALLBACK
    network = network_of(request.client.host) if request.client else ""
    token = await provider.exchange(code, redirect=redirect, verifier=attempt.verifier, network=network)
    try:
        claims = await tokens.read_signed_in(token, attempt.nonce)
    except Unavailable as error:
        raise SignInRefused(Refusal.PROVIDER, str(error)) from error
    if isinstance(claims, str):
        raise SignInRefused(Refusal.ANSWER, claims)
    caller = tokens.admit(claims)
    if not isinstance(caller, Caller):
        raise SignInRefused(Refusal.RULE, caller)
    session = await _sessions(request).begin_signed_in(tokens, claims, caller)
    if session is None:
        raise SignInRefused(Refusal.GROUPS, "the claims of the person are too long for a cookie")
    return session


def _read_error(error: str) -> SignInRefused:
    detail = f"the provider says {error[:60]!r}"
    if error in _DENIED:
        return SignInRefused(Refusal.DENIED, detail)
    return SignInRefused(Refusal.PROVIDER if error in _DOWN else Refusal.CLIENT, detail)


def _parameter(request: Request, name: str) -> str | None:
    """Returns a parameter that is given once."""
    given = request.query_params.getlist(name)
    return given[0] if len(given) == 1 else None


def _refuse(refused: SignInRefused, next: str) -> Response:
    log_event(_log, logging.WARNING, "a sign-in failed", reason=refused.refusal.value, error=str(refused))
    query: dict[str, Any] = {"failed": refused.refusal.value, **({"next": next} if next != "/" else {})}
    return RedirectResponse(f"{_VIEW}?{urlencode(query)}", HTTPStatus.SEE_OTHER)


def _own(request: Request) -> str:
    address = own_address(request, _settings(request).api)
    if not address:
        raise SignInRefused(Refusal.ADDRESS, "this host is not one of this server's: set HOPWEAVE_API__PUBLIC_URL")
    return address


def _find_provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFound("no identity provider signs in here: HOPWEAVE_OIDC__CLIENT_ID is not set")
    return provider


def _sessions(request: Request) -> Sessions:
    sessions: Sessions = request.app.state.sessions
    return sessions


def _tokens(request: Request) -> Tokens:
    tokens: Tokens = request.app.state.tokens
    return tokens


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings
