"""What the scripts of the page import, so that a browser fetches all of it at once, and not one level after another."""

import html
import json
import posixpath
import re
from collections.abc import Mapping

_MARK = b"<!-- modules -->"
_MAIN = "main.js"
_VIEWS = "views/"
_IMPORT = re.compile(r'^(?:import|export|\}) [^"\n]*"(\.\.?/[^"\n]+)";', re.MULTILINE)


def fill_modules(index: bytes, files: Mapping[str, bytes]) -> bytes:
    """Returns the document of the views with the modules of `main.js` as links, and the modules that each view needs
    besides as JSON, which `core/modules.js` reads. A document without the mark is returned as it is.
    """
    if _MARK not in index:
        return index
    first = _list_modules(_MAIN, files)
    views = {
        name.removeprefix(_VIEWS): [module for module in _list_modules(name, files) if module not in first]
        for name in files
        if name.startswith(_VIEWS)
    }
    links = "\n".join(f'<link rel="modulepreload" href="/page/-/{name}">' for name in first if name != _MAIN)
    listed = html.escape(json.dumps(views, separators=(",", ":")))
    return index.replace(_MARK, f'{links}\n<meta name="modules" content="{listed}">'.encode())


def _list_modules(name: str, files: Mapping[str, bytes]) -> list[str]:
    """Returns a module and all that it imports, directly or not, the nearest first."""
    found = [name]
    for module in found:
        for imported in _IMPORT.findall(files[module].decode()):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(module), imported))
            if path not in found:
                found.append(path)
    return found
