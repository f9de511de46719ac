"""The documentation as a site and on a code host: links lead somewhere, and nothing is fetched from elsewhere."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.docs.links import external_links, internal_links
from tests.docs.pages import DOCS, ROOT, pages

_SITE = DOCS / "site"
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"^(```+)[^\n]*\n.*?^\1\s*$", re.DOTALL | re.MULTILINE)
_FETCHED = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']((?:https?:)?//[^"']+)""")


def anchor_of(heading: str) -> str:
    """Returns the anchor that code hosts give a heading: its letters, digits, `-` and `_`, with spaces as `-`."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("\\", "")
    kept = (c for c in plain.lower() if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


@cache
def anchors(file: Path) -> set[str]:
    counted: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCE.sub("", file.read_text("utf-8"))):
        anchor = anchor_of(heading)
        found.add(f"{anchor}-{counted[anchor]}" if counted[anchor] else anchor)
        counted[anchor] += 1
    return found


def test_links_lead_somewhere_on_a_code_host() -> None:
    lost = []
    for page, path, anchor in internal_links():
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target.resolve())):
            lost.append(f"{page}: {path}#{anchor}")
    assert lost == []


def test_external_links_are_encrypted_or_of_this_machine() -> None:
    plain = [address for address in external_links() if not address.startswith("https://")]
    assert [address for address in plain if not re.match(r"http://(127\.0\.0\.1|localhost)[:/]", address)] == []


def test_pictures_have_text_alternatives() -> None:
    for page, text in pages().items():
        for words, file in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text):
            assert len(words) > 20, f"{page}: {file}"
            assert "`" not in words, f"{page}: {file}: code is lost in a text alternative"


def test_drawings_are_readable_in_light_and_dark() -> None:
    drawings = sorted((DOCS / "images").glob("concept-*.svg"))
    assert drawings
    for drawing in drawings:
        svg = drawing.read_text("utf-8")
        assert "prefers-color-scheme: dark" in svg
        assert re.search(r"<title[^>]*>\S", svg)
        assert re.search(r"<desc[^>]*>\S", svg)
        assert svg.count("://") == 1  # the name space


def test_the_navigation_has_at_most_seven_entries_at_the_top() -> None:
    toc = yaml.safe_load((_SITE / "toc.yml").read_text("utf-8"))
    assert toc["root"] == "docs/index"
    assert 1 <= len(toc["entries"]) <= 7


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_fetches_nothing(tmp_path: Path) -> None:
    options = ["--quiet", "--nitpicky", "--fail-on-warning", "--keep-going", "--conf-dir", str(_SITE)]
    built = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "--doctree-dir", str(tmp_path / "trees"), str(ROOT), str(built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    made = {str(file.relative_to(built).with_suffix(".md")) for file in built.rglob("*.html")}
    assert set(pages()) | {"docs/cli.md", "CHANGELOG.md", "SECURITY.md"} <= made
    for file in [*built.rglob("*.html"), *built.rglob("*.css")]:
        text = file.read_text("utf-8")
        assert _FETCHED.findall(text) == [], file
        assert re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", text) == [], file
    assert "pagerank" in (built / "searchindex.js").read_text("utf-8")
