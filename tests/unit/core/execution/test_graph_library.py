"""What a computation says that needs igraph where it is not installed."""

import sys

import pytest

from core.errors import InvalidSettings
from core.execution.graph_library import import_igraph


def test_without_igraph_the_error_names_what_needs_it_and_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)  # how Python refuses the import of a module
    with pytest.raises(InvalidSettings, match=r"^ways between entities cannot be computed without igraph"):
        import_igraph("ways between entities")


def test_igraph_is_imported_where_it_is_installed() -> None:
    assert import_igraph("ways").__name__ == "igraph"
