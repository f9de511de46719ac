"""Loaders by media type or suffix: the modules of `indexer.loaders`, each of which names those that it reads."""

import importlib
from functools import cache
from pathlib import PurePath
from types import ModuleType

from core.errors import UnsupportedMedia
from core.ports.indexing import Loader
from core.strategies import list_names

__all__ = ["known_suffixes", "loader_for", "media_type_of"]

_PACKAGE = "indexer.loaders"


def loader_for(media_type: str) -> Loader:
    """Returns the loader of a media type, without regard to its parameters and case. Raises `UnsupportedMedia`."""
    plain = media_type.partition(";")[0].strip().lower()
    for module in _modules():
        if plain in module.MEDIA_TYPES:
            loader: Loader = module.build(module.Config(), None)
            return loader
    known = ", ".join(sorted(kind for module in _modules() for kind in module.MEDIA_TYPES))
    raise UnsupportedMedia(f"no loader reads media type {plain!r}; there are loaders for {known}")


def media_type_of(path: str | PurePath) -> str:
    """Returns the media type of the suffix of a file. Raises `UnsupportedMedia`, which names the known suffixes."""
    suffix = PurePath(path).suffix.lower()
    for module in _modules():
        if suffix in module.SUFFIXES:
            media_type: str = module.MEDIA_TYPES[0]
            return media_type
    what = f"{suffix} files" if suffix else "files without a suffix"
    raise UnsupportedMedia(f"no loader reads {what}; there are loaders for {', '.join(known_suffixes())}")


def known_suffixes() -> list[str]:
    """Returns all suffixes that a loader reads, sorted."""
    return sorted(suffix for module in _modules() for suffix in module.SUFFIXES)


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(importlib.import_module(f"{_PACKAGE}.{name}") for name in list_names(_PACKAGE))
