"""Requests to the server that runs on the data folder, over its socket. Only the standard library is imported."""

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from app.supervision.folder_socket import ADDRESS_HEADER, SETTINGS_HEADER, connect_to_server, fingerprint_settings
from core import errors
from core.settings import Settings

_ERRORS: Mapping[int, type[errors.HopweaveError]] = {
    HTTPStatus.BAD_REQUEST: errors.InvalidInput,
    HTTPStatus.UNPROCESSABLE_ENTITY: errors.InvalidInput,
    HTTPStatus.NOT_FOUND: errors.NotFound,
    HTTPStatus.CONFLICT: errors.Conflict,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: errors.TooLarge,
    HTTPStatus.BAD_GATEWAY: errors.ModelFailed,
    HTTPStatus.GATEWAY_TIMEOUT: errors.BudgetExhausted,
}
"""Errors by status; all others are `Unavailable`. Only the exit code depends on it: the message is the server's."""


class Misdirected(Exception):
    """The server has other settings or another version than this command, or no route for what it does."""


def find_server(settings: Settings) -> "LocalServer | None":
    """Returns the server that runs on the data folder; None if there is none."""
    connection = connect_to_server(settings.data_dir)
    return None if connection is None else LocalServer(connection, fingerprint_settings(settings))


def make_path(*segments: str) -> str:
    """Returns the path of these segments below `/v1`.

    Raises `NotFound` for a name or an id that cannot be a segment: quoted or not, it would lead to another path.
    """
    for segment in segments:
        if "/" in segment or not segment.strip("."):
            raise errors.NotFound(f"there is nothing with the name or id {segment!r}")
    return "/".join(["/v1", *(quote(segment, safe="") for segment in segments)])


class LocalServer:
    """One connection, for requests one after another."""

    def __init__(self, connection: socket.socket, fingerprint: str) -> None:
        self._http = http.client.HTTPConnection("localhost")
        self._http.sock = connection
        self._http.auto_open = 0  # it would connect to another server after `close`
        self._connection = connection
        self._headers = {SETTINGS_HEADER: fingerprint, "Content-Type": "application/json"}

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **params: str | int | None
    ) -> dict[str, Any]:
        """Returns the JSON of the response; parameters that are None are left out.

        Raises `Misdirected`, or the error of `core.errors` that the server reports.
        """
        given = {name: value for name, value in params.items() if value is not None}
        content: dict[str, Any] = json.loads(self.read(method, f"{path}?{urlencode(given)}" if given else path, body))
        return content

    def read(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Returns the content of the response; raises what `send` raises."""
        with _reported():
            return self._request(method, path, body).read()

    def post(self, corpora: list[str], action: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the response to a search or a question; raises what `send` raises."""
        return self.send("POST", *_address(corpora, action, body))

    def stream(self, corpora: list[str], action: str, body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields name and data of each event; raises what `send` raises, also for an event `error`."""
        with _reported():
            response = self._request("POST", *_address(corpora, action, body))
            name = ""
            for line in response:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    data = json.loads(value)
                    if name == "error":
                        raise _read_error(data)
                    yield name, data

    def find_address(self) -> str:
        """Returns the address at which the server listens, too; '' if it does not tell."""
        try:
            self._http.request("GET", "/healthz")  # with other settings than the server's, too
            response = self._http.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):  # it is ending
            return ""
        return response.getheader(ADDRESS_HEADER, "")

    def hang_up(self) -> None:
        """Ends a request that runs in another thread, which then raises `Unavailable`."""
        with suppress(OSError):  # it has ended
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._http.close()

    def _request(self, method: str, path: str, body: Mapping[str, Any] | None) -> http.client.HTTPResponse:
        content = None if body is None else json.dumps(body).encode()
        self._http.request(method, path, content, self._headers)
        response = self._http.getresponse()
        if response.status == HTTPStatus.MISDIRECTED_REQUEST:
            raise Misdirected
        if not HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            raise _read_error(json.loads(response.read()))
        return response


def _address(corpora: list[str], action: str, body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Returns the path and the body of a request about one or several corpora."""
    if len(corpora) != 1:
        return make_path(action), {**body, "corpora": corpora}
    try:
        return make_path("corpora", *corpora, action), body
    except errors.NotFound as error:
        raise errors.NotFound(f"there is no corpus {corpora[0]!r}") from error


@contextmanager
def _reported() -> Iterator[None]:
    """Raises `Unavailable` for a connection that breaks."""
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise errors.Unavailable(
            f"the server that runs on the data folder has closed the connection ({reason}): try again"
        ) from error


def _read_error(problem: Mapping[str, Any]) -> errors.HopweaveError:
    kind = _ERRORS.get(problem["status"], errors.Unavailable)
    fields = [f"{one['field']}: {one['message']}" for one in problem.get("errors", ()) if one.get("field")]
    return kind("; ".join([problem["detail"], *fields]))
