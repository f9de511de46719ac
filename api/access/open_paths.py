"""The addresses that are answered without a key. They say nothing of documents, and nothing of questions."""

__all__ = ["OPEN_PATHS", "SESSION_PATH", "is_open", "is_view"]

SESSION_PATH = "/v1/session"
"""Where a key is exchanged for a session, and where one ends."""

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/docs/page.js", "/docs/page.css", "/openapi.json"})
_SIGNING = frozenset({"POST", "DELETE"})
_VIEWS = frozenset({"/", "/sign-in", "/help", "/docs"})
_VIEW_PREFIX = "/c/"
_FILE_PREFIX = "/page/"


def is_open(method: str, path: str) -> bool:
    """Whether a request needs no key. The web page asks for a key itself."""
    if path == SESSION_PATH:
        return method in _SIGNING
    return path in OPEN_PATHS or is_view(path) or path.startswith(_FILE_PREFIX)


def is_view(path: str) -> bool:
    """Whether a path is that of a page for people, to which links of other sites lead."""
    return path in _VIEWS or path.startswith(_VIEW_PREFIX)
