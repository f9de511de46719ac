"""The base class of the sections of settings, the types of values that are sent to other services, and paths.

A path may begin with `~`, the user's home folder.
"""

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr

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


_HOST = re.compile(r"[\w.:%-]+")  # a name, or an address of either version


class Section(BaseModel):
    """A section of settings: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _check_key(key: SecretStr) -> SecretStr:
    if not all(" " <= character <= "~" for character in key.get_secret_value()):
        raise ValueError("a key is one line of ASCII characters; this value has a line break or another character")
    return key


SentKey = Annotated[SecretStr, AfterValidator(_check_key)]
"""A key that is sent in a header. HTTP clients refuse any other value, and show it in their message."""


def _check_text(text: str) -> str:
    """The environment may hold bytes that are no UTF-8. They come as halves of surrogate pairs."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("it takes a text in UTF-8; this value has bytes that are none")
    return text


SentText = Annotated[str, AfterValidator(_check_text)]
"""A text that is sent to a model, in UTF-8."""


def address_like(example: str) -> AfterValidator:
    """Returns the check of a setting that is the address of an endpoint, or empty. Its message has an example, and not
    the value: an address may hold a password.
    """

    def check(address: str) -> str:
        if address and not _is_web_address(address):
            raise ValueError(f"it takes an address with http:// or https://, a host and no spaces, such as {example}")
        return address

    return AfterValidator(check)


def _is_web_address(address: str) -> bool:
    if not address.isprintable() or any(map(str.isspace, address)):
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port  # raises ValueError for what is no port
        host.encode("idna")
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and _HOST.fullmatch(host) is not None
