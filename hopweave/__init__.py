"""Hopweave from Python: `hopweave.open` a data folder, or `hopweave.connect` to a server; then ingest, search and ask.

The names come from `hopweave._api`, and are imported when they are first used, since every process of Hopweave
imports this module.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopweave._api import *  # noqa: F403 - they are listed there

    __version__: str
else:

    def __getattr__(name: str) -> object:
        """Imports the Python API for its first name, and reads the version from the installed package's metadata."""
        import importlib

        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("hopweave")
        if name.startswith("_") and name != "__all__":  # such as a submodule that is being looked for
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        api = importlib.import_module("hopweave._api")
        if name != "__all__" and name not in api.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(api, name)

    def __dir__() -> list[str]:
        """The public names."""
        return [*__getattr__("__all__"), "__version__"]
