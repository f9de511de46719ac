"""The loaders of an installation and its images of pages, with the options and limits of its settings."""

from core.errors import InvalidSettings, InvalidStrategy
from core.settings import Settings
from indexer import Loaders, PageImages, ParserLimits

__all__ = ["make_loaders", "make_page_images"]

_MEGABYTE = 1024 * 1024


def make_loaders(settings: Settings) -> Loaders:
    """Raises `InvalidSettings` if `HOPWEAVE_LOADERS` names an unknown loader or option."""
    try:
        return Loaders(settings.loaders, _limits(settings))
    except InvalidStrategy as error:
        raise InvalidSettings(f"HOPWEAVE_LOADERS: {error}") from error


def make_page_images(settings: Settings) -> PageImages:
    return PageImages(_limits(settings), settings.parser.image_seconds)


def _limits(settings: Settings) -> ParserLimits:
    parser = settings.parser
    return ParserLimits(
        memory=parser.memory_mb * _MEGABYTE, seconds=parser.seconds, output=parser.output_mb * _MEGABYTE
    )
