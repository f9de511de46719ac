"""Paths in settings: the user's home folder for `~`, and the place of the data folder."""

from pathlib import Path

__all__ = ["default_data_dir", "expand_home", "expand_home_in"]

_LOCAL = Path(".hopweave")
_NAME = "hopweave"


def default_data_dir() -> Path:
    """Returns `.hopweave` in the working directory if it is there, else the folder of the user for data of programs."""
    if _LOCAL.is_dir():
        return _LOCAL
    from platformdirs import user_data_path

    return user_data_path(_NAME, appauthor=False)


def expand_home(path: Path) -> Path:
    """Raises `ValueError` for the home folder of an unknown user."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError(f"the home folder in {str(path)!r} is not known; write the whole path") from error


def expand_home_in(text: str) -> str:
    """Expands `~` in what may be a path, and leaves addresses and names as they are."""
    return str(expand_home(Path(text))) if text.startswith("~") else text
