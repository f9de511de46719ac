"""The modules of the page: they import one another in one direction, and a browser is told of all that a view needs."""

import html
import json
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from importlib import resources
from pathlib import Path

from api.page.modules import fill_modules
from api.page.responses import load_assets

_FILES = Path(str(resources.files("api.page"))) / "files"
_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)\"""")


_LINK = re.compile(r'<link rel="modulepreload" href="/page/[0-9a-f]+/([^"]+)">')
_LISTED = re.compile(r'<meta name="modules" content="([^"]*)">')


def test_modules_import_one_another_in_no_circle() -> None:
    modules = [path for path in _FILES.rglob("*.js") if "vendor" not in path.parts]
    imports = {path: {(path.parent / name).resolve() for name in _IMPORT.findall(path.read_text())} for path in modules}
    assert sum(map(len, imports.values())) > len(modules)
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


def _list_imports(name: str) -> set[str]:
    """Returns all modules that a module imports, directly or not, as paths in the folder of the page."""
    found, left = set[str](), {(_FILES / name).resolve()}
    while left:
        path = left.pop()
        if (one := str(path.relative_to(_FILES.resolve()))) not in found:
            found.add(one)
            is_own = "vendor" not in path.parts
            text = "".join(
                line for line in path.read_text().splitlines(True) if not line.lstrip().startswith(("*", "/*"))
            )
            left |= {(path.parent / name).resolve() for name in _IMPORT.findall(text)} if is_own else set()
    return found


def test_the_document_lists_the_modules_of_each_view() -> None:
    document = load_assets().index.content.decode()
    first = {"main.js", *_LINK.findall(document)}
    [listed] = _LISTED.findall(document)
    views: Mapping[str, list[str]] = json.loads(html.unescape(listed))
    assert first == _list_imports("main.js")
    assert {f"views/{view}" for view in views} == {f"views/{path.name}" for path in (_FILES / "views").glob("*.js")}
    for view, modules in views.items():
        assert first | set(modules) == first | _list_imports(f"views/{view}"), view
        assert not first & set(modules), view


def test_modules_are_listed_level_by_level_and_once() -> None:
    files = {
        "main.js": b'import { a } from "./parts/a.js";\nimport {\n  b,\n} from "./b.js";\n',
        "parts/a.js": b'/** @param {import("../c.js").C} c */\nexport { b } from "../b.js";\n',
        "b.js": b"export const b = 1;\n",
        "c.js": b"",
        "views/one.js": b'import "../c.js";\nimport { b } from "../b.js";\n',
    }
    filled = fill_modules(b"<head><!-- modules --></head>", files).decode()
    assert re.findall(r'href="/page/-/([^"]+)"', filled) == ["parts/a.js", "b.js"]
    assert [html.unescape(one) for one in _LISTED.findall(filled)] == ['{"one.js":["views/one.js","c.js"]}']
    assert fill_modules(b"<head></head>", files) == b"<head></head>"
