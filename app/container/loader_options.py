"""The loaders of an installation and its images of pages, with the options and limits of its settings."""

from dataclasses import replace

from core.errors import InvalidSettings, InvalidStrategy
from core.settings import Settings
from indexer import LaneLimits, Loaders, LoadingLane, PageImages, ParserLimits

__all__ = ["make_estimate_lane", "make_loaders", "make_page_images", "make_page_lane"]

_MEGABYTE = 1024 * 1024
_PAGES = LaneLimits(what="texts of pages", all=64, of_one=16)
_ESTIMATES = LaneLimits(what="estimates", all=16, of_one=4)  # each holds its documents in memory


def make_loaders(settings: Settings) -> Loaders:
    """Raises `InvalidSettings` if `HOPWEAVE_LOADERS` names an unknown loader or option."""
    try:
        return Loaders(settings.loaders, _limits(settings))
    except InvalidStrategy as error:
        raise InvalidSettings(f"HOPWEAVE_LOADERS: {error}") from error


def make_page_lane(settings: Settings) -> LoadingLane:
    return LoadingLane("page-texts", _PAGES, settings.loaders, _limits(settings))


def make_estimate_lane(settings: Settings) -> LoadingLane:
    seconds, name = settings.parser.estimate_seconds, "HOPWEAVE_PARSER__ESTIMATE_SECONDS"
    limits = replace(_limits(settings), seconds=seconds, seconds_setting=name)
    return LoadingLane("estimates", _ESTIMATES, settings.loaders, limits)


def make_page_images(settings: Settings) -> PageImages:
    return PageImages(_limits(settings), settings.parser.image_seconds)


def _limits(settings: Settings) -> ParserLimits:
    parser = settings.parser
    return ParserLimits(
        memory=parser.memory_mb * _MEGABYTE, seconds=parser.seconds, output=parser.output_mb * _MEGABYTE
    )
