"""The modules of the page: they import one another in one direction."""

import re
from graphlib import TopologicalSorter
from importlib import resources
from pathlib import Path

_FILES = Path(str(resources.files("api.page"))) / "files"
_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)\"""")


def test_modules_import_one_another_in_no_circle() -> None:
    modules = [path for path in _FILES.rglob("*.js") if "vendor" not in path.parts]
    imports = {path: {(path.parent / name).resolve() for name in _IMPORT.findall(path.read_text())} for path in modules}
    assert sum(map(len, imports.values())) > len(modules)
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
