"""The responses of the web page: the document of its views, and its files."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.page.assets import Asset, load_assets
from core.errors import NotFound

__all__ = ["POLICY", "router", "show_missing", "show_sign_in"]

router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    # A browser without `Sec-Fetch-Site` names its page in `Referer`, by which the session's cookie is accepted.
    "Referrer-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_MODIFIED = 304


async def show_view(request: Request) -> Response:
    """Answers every address of a view with the same document, whose script reads the address."""
    assets = load_assets()
    tag = f'W/"{assets.hash}"'  # weak: the compressed form has the same
    headers = {"Cache-Control": "no-cache", "ETag": tag}
    if tag in (one.strip() for one in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=_NOT_MODIFIED, headers={**_HEADERS, **headers})
    return _send(request, assets.index, headers)


def show_missing(request: Request) -> Response | None:
    """Returns the document of the views as a 404, for a browser that was led to an address that nothing has.

    It says so in words, with the way back. Returns None for programs, and for addresses of the API.
    """
    return _show_instead(request, HTTPStatus.NOT_FOUND, {})


def show_sign_in(request: Request, headers: Mapping[str, str]) -> Response | None:
    """Returns the document of the views as a 401, for a browser that shows no key: its script asks for one.

    Returns None for programs, which show a key or accept no HTML, and for addresses of the API.
    """
    if "authorization" in request.headers:
        return None
    return _show_instead(request, HTTPStatus.UNAUTHORIZED, headers)


def _show_instead(request: Request, status: HTTPStatus, headers: Mapping[str, str]) -> Response | None:
    is_page = request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")
    if not is_page or request.url.path.startswith(("/v1/", "/page/")):
        return None
    return _send(request, load_assets().index, {**headers, "Cache-Control": "no-store"}, status)


async def send_file(request: Request) -> Response:
    """Answers `/page/{hash}/{name}`. Another hash belongs to another version, whose files are not here."""
    assets = load_assets()
    asset = assets.files.get(request.path_params["name"])
    if asset is None or request.path_params["hash"] != assets.hash:
        raise NotFound("this version of the page has no such file; load the page again")
    return _send(request, asset, {"Cache-Control": _FOR_EVER})


for path in ("/", "/sign-in", "/help", "/c/{path:path}"):
    router.add_route(path, show_view, methods=["GET"])  # with HEAD; any parameter may be in the query
router.add_route("/page/{hash}/{name:path}", send_file, methods=["GET"])


def _send(request: Request, asset: Asset, headers: dict[str, str], status: int = HTTPStatus.OK) -> Response:
    content, more = asset.content, {**_HEADERS, **headers}
    if asset.compressed is not None and _accepts_gzip(request.headers.get("accept-encoding", "")):
        content = asset.compressed
        more["Content-Encoding"] = "gzip"
    more["Content-Length"] = str(len(content))
    body = b"" if request.method == "HEAD" else content
    return Response(body, status_code=status, media_type=asset.media_type, headers=more)


def _accepts_gzip(accepted: str) -> bool:
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
