"""Translates errors of a bucket's server into Hopweave's errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

from core.errors import HopweaveError, InvalidSettings, NotFound, Unavailable
from stores.files.address import BucketAddress

__all__ = ["translate_errors"]

_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_NO_KEYS = ("/latest/api/token", "/latest/meta-data")
_WRONG_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}


@contextmanager
def translate_errors(
    address: BucketAddress, missing: str = "there is no such object", *, must_say: bool = True
) -> Iterator[None]:
    """Translates errors of obstore. `missing` is the message of `NotFound`.

    With `must_say`, only a 404 that says that the object is missing counts as `NotFound`: a proxy before the bucket
    may send others, and a worker would take the original for lost. The response to a HEAD request says nothing.
    """
    try:
        yield
    except FileNotFoundError as error:
        code = _find_code(error)
        is_missing = code == "NoSuchKey" or (not must_say and code != "NoSuchBucket")
        raise (NotFound(missing) if is_missing else _make_error(address, error)) from error
    except BaseError as error:
        raise _make_error(address, error) from error


def _make_error(address: BucketAddress, error: Exception) -> HopweaveError:
    """Returns the error. The SDK has one class for most errors; code and status in its message tell them apart."""
    text, code = str(error), _find_code(error)
    status = match[1] if (match := _STATUS.search(text)) else ""
    said = " ".join(part for part in (status, code) if part)
    if any(part in text for part in _NO_KEYS):
        return InvalidSettings(
            f"there are no credentials for {address}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
            "(there is no role of this machine either)"
        )
    if text.startswith("Generic Config error"):
        return InvalidSettings(f"the AWS variables for {address} are wrong: {text.splitlines()[0]}")
    if code == "NoSuchBucket":
        return InvalidSettings(f"there is no such bucket: {address}; create it, or correct HOPWEAVE_FILES__URL")
    if code in _WRONG_REGION:
        return InvalidSettings(f"the bucket is in another region: {address} ({said}); correct AWS_REGION")
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or status in {"401", "403"}:
        return InvalidSettings(
            f"the credentials were refused for {address} ({said}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "and that they may list, read, write and delete there"
        )
    return Unavailable(
        f"the bucket of originals cannot be used now: {address} ({said or 'no answer'}); "
        "check that its server runs, and AWS_ENDPOINT_URL"
    )


def _find_code(error: Exception) -> str:
    return match[1] if (match := _CODE.search(str(error))) else ""
