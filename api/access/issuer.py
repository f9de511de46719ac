"""The identity provider: its published keys (`IssuerKeys`), and the exchange by which people sign in (`Provider`).

Both ask the issuer of the settings, keep what it says, and ask no more often than the bounds below say: an issuer that
does not answer, or changes its keys, is asked again.
"""

import asyncio
import base64
import json
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from core.errors import InvalidInput, Unavailable
from core.execution.bounded_answers import AnswerBounds, AnswerRefused, bounding_hooks
from core.settings import OidcSettings

_KINDS: Mapping[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
"""No `oct`: a secret among published keys is none."""
_MOST_KEYS = 100
_MOST_BYTES = 1024 * 1024
_BOUNDS = AnswerBounds(whole=_MOST_BYTES, stream=_MOST_BYTES, event=_MOST_BYTES, values=20_000, seconds=5.0)
_FRESH_SECONDS = 600.0
_STALE_SECONDS = 3600.0
"""Keys are fetched again after the first time, and used no longer than the second while the issuer does not answer."""
_AGAIN_SECONDS = 30.0
"""The shortest time between two requests for keys, whatever ids of keys tokens name."""
_MOST_EXCHANGES = 32
"""Codes that are exchanged at once."""
_NO_ADDRESS = re.compile(r"[\x00-\x20\x7f#]")
"""A fragment would swallow the parameters that are added to an address."""
_AFTER_FAILURE_SECONDS = 5.0
"""How long nobody asks again for a description that could not be read."""


class IssuerKeys:
    """The keys that an issuer publishes, by their ids."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._keys: Mapping[str, Key] = {}
        self._fetched_at: float | None = None
        self._asked_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._failure = ""

    async def find(self, id: str) -> Key | None:
        """Returns the key with this id; None if the issuer publishes none.

        Raises `Unavailable` if the keys could not be fetched for too long.
        """
        age = None if self._fetched_at is None else time.monotonic() - self._fetched_at
        if age is None or age > _STALE_SECONDS:
            await self._fetch()
            if self._fetched_at is None or time.monotonic() - self._fetched_at > _STALE_SECONDS:
                raise Unavailable(f"the keys of the issuer {self._settings.issuer} cannot be read: {self._failure}")
        elif id not in self._keys:
            await self._fetch()
        elif age > _FRESH_SECONDS:
            self._begin()
        return self._keys.get(id)

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    async def _fetch(self) -> None:
        self._begin()
        if self._fetching is not None:
            await asyncio.shield(self._fetching)

    def _begin(self) -> None:
        """All callers wait for one request."""
        now = time.monotonic()
        if self._fetching is None and (self._asked_at is None or now - self._asked_at >= _AGAIN_SECONDS):
            self._asked_at = now
            self._fetching = asyncio.create_task(self._read(), name="reading the keys of the issuer")
            self._fetching.add_done_callback(self._end)

    def _end(self, _: "asyncio.Task[None]") -> None:
        self._fetching = None

    async def _read(self) -> None:
        """Keeps what is known if the issuer does not answer, or answers something else."""
        try:
            async with _connect() as client:
                self._keys = _parse_keys(await _get(client, await self._find_address(client)))
        except _FAILURES as error:
            self._failure = str(error) or type(error).__name__
        else:
            self._fetched_at = time.monotonic()

    async def _find_address(self, client: httpx.AsyncClient) -> str:
        if self._settings.jwks_url:
            return self._settings.jwks_url
        return _read_address(self._settings, await _get_description(client, self._settings), "jwks_uri")


_FAILURES = (httpx.HTTPError, httpx.InvalidURL, AnswerRefused, InvalidInput)
"""What `_send` and what reads its answer raise where the issuer is down, slow or says something else."""


def _connect() -> httpx.AsyncClient:
    return httpx.AsyncClient(event_hooks=bounding_hooks(_BOUNDS), timeout=_BOUNDS.seconds, trust_env=False)


async def _get_description(client: httpx.AsyncClient, settings: OidcSettings) -> Mapping[str, Any]:
    found = await _get(client, f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != settings.issuer:
        raise InvalidInput("its description names another issuer")
    return found


def _read_address(settings: OidcSettings, description: Mapping[str, Any], name: str) -> str:
    address = description.get(name)
    if not isinstance(address, str) or not _is_safe(address, settings):
        raise InvalidInput(f"its description names no `{name}` over HTTPS")
    return address


async def _send(client: httpx.AsyncClient, method: str, address: str, **more: Any) -> httpx.Response:
    """Returns a whole answer. Raises what is among `_FAILURES`.

    The times of httpx are for each part: an issuer could send its headers, or the events of a stream, one by one.
    """
    try:
        async with asyncio.timeout(_BOUNDS.seconds):
            return await client.request(method, address, **more)
    except TimeoutError as error:
        raise InvalidInput(f"{address} did not answer within {_BOUNDS.seconds:g} seconds") from error


async def _get(client: httpx.AsyncClient, address: str) -> Mapping[str, Any]:
    answer = await _send(client, "GET", address)
    if answer.status_code != HTTPStatus.OK:
        raise InvalidInput(f"{address} answered {answer.status_code}")
    return _parse(address, answer)


def _parse(address: str, answer: httpx.Response) -> Mapping[str, Any]:
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{address} answered no JSON") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{address} answered no JSON object")
    return found


def _is_safe(address: str, settings: OidcSettings) -> bool:
    """Whether an address of the description is over HTTPS. Only an issuer on this machine names others on it: another
    one would have codes and the client's secret sent to whatever listens here.
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # no address at all
        return False
    if not address.isascii() or _NO_ADDRESS.search(address) or not parts.hostname:
        return False
    is_local = urlsplit(settings.issuer).scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    return parts.scheme == "https" or (parts.scheme == "http" and is_local)


def _parse_keys(found: Mapping[str, Any]) -> Mapping[str, Key]:
    """Returns the keys that can check a signature; keys of other kinds are left out."""
    listed = found.get("keys")
    if not isinstance(listed, list):
        raise InvalidInput("the answer has no list `keys`")
    if len(listed) > _MOST_KEYS:
        raise InvalidInput(f"the answer has more than {_MOST_KEYS} keys")
    keys = {}
    for key in listed:
        if not isinstance(key, dict) or not isinstance(key.get("kid"), str) or key.get("use", "sig") != "sig":
            continue
        if (kind := _KINDS.get(str(key.get("kty")))) is None:
            continue
        try:
            keys[key["kid"]] = kind.import_key(key)
        except (JoseError, ValueError, TypeError, KeyError):  # a key that this library does not know
            continue
    return keys


class Refusal(StrEnum):
    """Why a sign-in has failed. The web page has a sentence for each."""

    STATE = "state"
    DENIED = "denied"
    CODE = "code"
    ANSWER = "answer"
    RULE = "rule"
    GROUPS = "groups"
    CLIENT = "client"
    PROVIDER = "provider"
    ADDRESS = "address"


class SignInRefused(Exception):
    """A sign-in failed. Its text is for the log, and has no code and no token."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.refusal = refusal


@dataclass(frozen=True, kw_only=True)
class _Endpoints:
    authorization: str
    token: str
    end_session: str
    is_posted: bool
    """Whether the secret is sent in the body: only where the issuer says that it takes no header."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Place:
    network: str
    running: asyncio.Timeout


class _Places:
    """The exchanges that run, `_MOST_EXCHANGES` at most, with the network that each caller comes from.

    Anybody can begin a sign-in and come back with a wrong code. So where all places are taken, a caller gets the place
    of the network that has most of them, if that has still as many as the caller's network then.
    """

    def __init__(self) -> None:
        self._taken: list[_Place] = []

    @asynccontextmanager
    async def take(self, network: str) -> AsyncIterator[None]:
        """Raises `SignInRefused` if no place is free, or if the place is given to another network meanwhile."""
        if len(self._taken) >= _MOST_EXCHANGES:
            self._make_room(network)
        place = _Place(network=network, running=asyncio.timeout(None))
        try:
            async with place.running:
                self._taken.append(place)
                yield
        except TimeoutError as error:
            raise SignInRefused(Refusal.PROVIDER, f"the place of {network} is given to another network") from error
        finally:
            if place in self._taken:
                self._taken.remove(place)

    def _make_room(self, network: str) -> None:
        taken = Counter(place.network for place in self._taken)
        [(busiest, most)] = taken.most_common(1)
        if most <= taken[network] + 1:
            raise SignInRefused(Refusal.PROVIDER, f"{_MOST_EXCHANGES} codes are exchanged already")
        oldest = next(place for place in self._taken if place.network == busiest)
        self._taken.remove(oldest)
        oldest.running.reschedule(asyncio.get_running_loop().time())


class Provider:
    """Signs people in by the authorization code flow with PKCE."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._lock = asyncio.Lock()
        self._endpoints: _Endpoints | None = None
        self._read_at = 0.0
        self._failure = ""
        self._places = _Places()

    @property
    def name(self) -> str:
        return self._settings.shown_name

    async def locate_sign_in(self, *, redirect: str, state: str, nonce: str, challenge: str) -> str:
        """Returns the address at which a person signs in. Raises `SignInRefused` if the issuer does not answer."""
        endpoints = await self._find_endpoints()
        return _extend(
            endpoints.authorization,
            {
                "response_type": "code",
                "client_id": self._settings.client_id,
                "redirect_uri": redirect,
                "scope": " ".join(self._settings.client_scopes),
                "state": state,
                "nonce": nonce,
                "code_challenge": challenge,
                "code_challenge_method": "S256",
            },
        )

    async def locate_sign_out(self, redirect: str) -> str | None:
        """Returns the address at which a person signs out of the provider; None if it has none, or does not answer."""
        try:
            endpoints = await self._find_endpoints()
        except SignInRefused:
            return None
        if not endpoints.end_session:
            return None
        more = {"post_logout_redirect_uri": redirect} if redirect else {}
        return _extend(endpoints.end_session, {"client_id": self._settings.client_id, **more})

    async def exchange(self, code: str, *, redirect: str, verifier: str, network: str) -> str:
        """Returns the token that says who has signed in. Raises `SignInRefused`."""
        endpoints = await self._find_endpoints()
        try:
            async with self._places.take(network), _connect() as client:
                body, headers = self._authenticate(endpoints)
                body |= {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect}
                body |= {"code_verifier": verifier}
                answer = await _send(client, "POST", endpoints.token, data=body, headers=headers)
            found = _parse(endpoints.token, answer)
        except _FAILURES as error:
            raise SignInRefused(Refusal.PROVIDER, str(error) or type(error).__name__) from error
        return _read_token(answer.status_code, found)

    def _authenticate(self, endpoints: _Endpoints) -> tuple[dict[str, str], dict[str, str]]:
        """Returns what the body and the headers of the exchange say of this client."""
        client, secret = self._settings.client_id, self._settings.client_secret.get_secret_value()
        if not secret:
            return {"client_id": client}, {}
        if endpoints.is_posted:
            return {"client_id": client, "client_secret": secret}, {}
        shown = base64.b64encode(f"{quote_plus(client)}:{quote_plus(secret)}".encode()).decode()
        return {}, {"Authorization": f"Basic {shown}"}

    async def _find_endpoints(self) -> _Endpoints:
        """All callers wait for one request. What was read is used while the issuer does not answer, as its keys are."""
        async with self._lock:
            age = time.monotonic() - self._read_at
            is_known = self._endpoints is not None
            if age > (_FRESH_SECONDS if is_known else _AFTER_FAILURE_SECONDS) or not (is_known or self._failure):
                await self._read()
        if self._endpoints is None:
            raise SignInRefused(Refusal.PROVIDER, f"{self._settings.issuer} cannot be read: {self._failure}")
        return self._endpoints

    async def _read(self) -> None:
        try:
            async with _connect() as client:
                description = await _get_description(client, self._settings)
            methods = description.get("token_endpoint_auth_methods_supported")
            self._endpoints = _Endpoints(
                authorization=_read_address(self._settings, description, "authorization_endpoint"),
                token=_read_address(self._settings, description, "token_endpoint"),
                end_session=_read_address(self._settings, description, _END_SESSION)
                if description.get(_END_SESSION)
                else "",
                is_posted=isinstance(methods, list) and "client_secret_basic" not in methods,
            )
        except _FAILURES as error:
            self._failure = str(error) or type(error).__name__
        self._read_at = time.monotonic()


_END_SESSION = "end_session_endpoint"


def _extend(address: str, query: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(query)}"


def _read_token(status: int, found: Mapping[str, Any]) -> str:
    token = found.get("id_token")
    if status == HTTPStatus.OK and isinstance(token, str):
        return token
    error = str(found.get("error", "no `id_token`"))[:60]
    if error == "invalid_grant":
        raise SignInRefused(Refusal.CODE, "the issuer does not take the code: it has expired, or is another one")
    is_refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    raise SignInRefused(Refusal.CLIENT if is_refused else Refusal.PROVIDER, f"the issuer answered {status}: {error!r}")
