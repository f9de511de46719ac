"""Links of the documentation: `make links` lists the external ones with their pages, and fetches nothing."""

import re
from collections.abc import Iterator

from tests.docs.pages import ROOT, code_free, pages

__all__ = ["external_links", "internal_links"]

_LINK = re.compile(r"\]\(([^)\s]+)\)|<(https?://[^>\s]+)>")


def external_links() -> dict[str, list[str]]:
    """Returns each address with the pages that link to it."""
    found: dict[str, list[str]] = {}
    for page, target in _links():
        if "://" in target:
            found.setdefault(target, []).append(page)
    return dict(sorted(found.items()))


def internal_links() -> Iterator[tuple[str, str, str]]:
    """Yields page, path relative to it ('' for the page itself) and anchor."""
    for page, target in _links():
        if "://" not in target:
            path, _, anchor = target.partition("#")
            yield page, path, anchor


def _links() -> Iterator[tuple[str, str]]:
    """Yields each page with what it links to, code left out; of the changelog and the policy, too."""
    more = {name: (ROOT / name).read_text("utf-8") for name in ("CHANGELOG.md", "SECURITY.md", "examples/README.md")}
    for page, text in {**pages(), **more}.items():
        for target, address in _LINK.findall(code_free(text)):
            yield page, target or address


if __name__ == "__main__":
    for address, linked in external_links().items():
        print(address, *dict.fromkeys(linked))
