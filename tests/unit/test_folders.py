"""The rule for folders of the product: at most fifteen modules beside each other."""

import tomllib
from collections import Counter
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MOST = 15


def test_no_folder_has_more_than_fifteen_modules() -> None:
    """`__init__.py` does not count: it stands for the folder."""
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))
    packages = settings["tool"]["importlinter"]["root_packages"]
    modules = [module for package in packages for module in (_ROOT / package).rglob("*.py")]
    counts = Counter(str(module.parent.relative_to(_ROOT)) for module in modules if module.name != "__init__.py")
    assert set(packages) <= {folder.split("/")[0] for folder in counts}
    assert {folder: count for folder, count in counts.items() if count > _MOST} == {}
