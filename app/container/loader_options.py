"""The loaders of an installation, with the options and limits of its settings."""

from core.errors import InvalidSettings, InvalidStrategy
from core.settings import Settings
from indexer import Loaders, ParserLimits

__all__ = ["make_loaders"]

_MEGABYTE = 1024 * 1024


def make_loaders(settings: Settings) -> Loaders:
    """Raises `InvalidSettings` if `HOPWEAVE_LOADERS` names an unknown loader or option."""
    parser = settings.parser
    limits = ParserLimits(
        memory=parser.memory_mb * _MEGABYTE, seconds=parser.seconds, output=parser.output_mb * _MEGABYTE
    )
    try:
        return Loaders(settings.loaders, limits)
    except InvalidStrategy as error:
        raise InvalidSettings(f"HOPWEAVE_LOADERS: {error}") from error
