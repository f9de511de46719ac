"""Pages of browsers: whether a request comes from a page of this server.

Any page can send requests to this server, and a browser adds the session's cookie to those of pages of the same site,
such as of another port. So a session counts only for requests of which the browser says that they are of our own page.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

__all__ = ["is_secure", "refuse_foreign_page", "refuse_unknown_page"]

_READING = frozenset({"GET", "HEAD"})
_OWN = "same-origin"


def refuse_unknown_page(scope: Scope, headers: Headers, public_url: str) -> str | None:
    """Returns why a request is not known to come from our own page; None if it is.

    Browsers name the site in `Sec-Fetch-Site`, except for addresses that are neither HTTPS nor local, and all name the
    origin of a request that may change something in `Origin`. Only a request that reads is also known by its `Referer`.
    """
    if (why := refuse_foreign_page(scope, headers, public_url)) is not None:
        return why
    if "sec-fetch-site" in headers or "origin" in headers:
        return None
    page = _origin_of(headers.get("referer", ""))
    if scope["method"] in _READING and page in _own_origins(scope, headers, public_url):
        return None
    return "a session is for the web page of this server; a program sends its key as `Authorization: Bearer …`"


def refuse_foreign_page(scope: Scope, headers: Headers, public_url: str) -> str | None:
    """Returns why a request comes from a page that is not ours; None if it does not, or comes from a program."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in _own_origins(scope, headers, public_url):
        return (
            f"origin {origin[:255]!r} is foreign: a session is for the web page of this server; if that is its "
            "address, set HOPWEAVE_API__PUBLIC_URL to it, or let the proxy pass on `Host`"
        )
    if headers.get("sec-fetch-site", _OWN) != _OWN:
        return "the request comes from a foreign page; a session is for the web page of this server"
    return None


def is_secure(scope: Scope, public_url: str) -> bool:
    """Whether users reach the server by HTTPS."""
    return scope.get("scheme") == "https" or public_url.lower().startswith("https://")


def _own_origins(scope: Scope, headers: Headers, public_url: str) -> set[str]:
    """Returns the origins of this server's page. A proxy may receive HTTPS and pass on HTTP, but not the reverse."""
    host = headers.get("host", "").lower()
    own = {f"https://{host}"}
    if scope.get("scheme") == "http":
        own.add(f"http://{host}")
    if public_url:
        own.add(_origin_of(public_url))
    return own


def _origin_of(address: str) -> str:
    try:
        parts = urlsplit(address.lower())
    except ValueError:  # no address at all
        return ""
    return f"{parts.scheme}://{parts.netloc}"
