"""The file store in an S3 bucket, from which workers on other hosts read what the API received.

First come the address of the bucket, from HOPWEAVE_FILES__URL and the AWS variables of the environment, and the errors
of its server as Hopweave's errors.
"""

import asyncio
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from core.errors import HopweaveError, InvalidSettings, NotFound, Unavailable
from core.ids import content_hash
from stores.corpus_folders import corpus_folder
from stores.files.folder import derived_path, is_name, original_path

_SETTING = "HOPWEAVE_FILES__URL"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]*)(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
# In the order of precedence in obstore.
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_NEVER_EMPTY = (*_ENDPOINTS, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_TOKEN")
_TRUE = {"1", "true", "on", "yes", "y"}


@dataclass(frozen=True, kw_only=True)
class BucketAddress:
    """The address of a bucket: its server, its name, and the prefix of all keys."""

    bucket: str
    prefix: str
    endpoint: str
    """Empty for Amazon S3 in `region`."""
    region: str

    @classmethod
    def read(cls, url: str, environment: Mapping[str, str]) -> "BucketAddress":
        """Reads the address from `url` and the AWS variables of the environment. Raises `InvalidSettings`.

        obstore reads the same variables. It panics if an endpoint is not a URL, so such an endpoint is refused here.
        """
        bucket, prefix = _parse_url(url)
        for name in _NEVER_EMPTY:
            if environment.get(name) == "":
                raise InvalidSettings(f"{name} is set to nothing: give it a value, or take it out of the environment")
        return cls(
            bucket=bucket,
            prefix=prefix,
            endpoint=_read_endpoint(environment),
            region=environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1",
        )

    def __str__(self) -> str:
        place = "/".join(part for part in (self.bucket, self.prefix) if part)
        return f"s3://{place} at {self.endpoint or f'Amazon S3 in {self.region}'}"


def _parse_url(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise InvalidSettings(f"{_SETTING} holds a key; give it as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
    prefix = parts.path.strip("/")
    if (
        parts.scheme != "s3"
        or not _BUCKET.fullmatch(parts.netloc)
        or (prefix and not _PREFIX.fullmatch(prefix))
        or parts.query
        or parts.fragment
    ):
        raise InvalidSettings(
            f"{_SETTING}={url!r} is not the address of a bucket: write s3://bucket or s3://bucket/prefix "
            "(the server's own address is AWS_ENDPOINT_URL)"
        )
    return parts.netloc, prefix


def _read_endpoint(environment: Mapping[str, str]) -> str:
    """Returns the server if it is not Amazon S3, else an empty string."""
    for name in _ENDPOINTS:
        if name not in environment:
            continue
        endpoint = environment[name].rstrip("/")
        parts = urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
            raise InvalidSettings(
                f"{name} is not an address such as https://host:9000; keys have variables of their own"
            )
        if parts.scheme == "http" and environment.get("AWS_ALLOW_HTTP", "").lower() not in _TRUE:
            raise InvalidSettings(
                f"{name}={endpoint} is not encrypted: set AWS_ALLOW_HTTP=true to permit that, or use https"
            )
        return endpoint
    return ""


_CODE = re.compile(r"<Code>(\w{1,64})</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_NO_KEYS = ("/latest/api/token", "/latest/meta-data")
_WRONG_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}


@contextmanager
def _translate_errors(
    address: BucketAddress, missing: str = "there is no such object", *, must_say: bool = True
) -> Iterator[None]:
    """Translates errors of obstore. `missing` is the message of `NotFound`.

    With `must_say`, only a 404 that says that the object is missing counts as `NotFound`: a proxy before the bucket may
    send other responses, and a worker would take the original for lost. The response to a HEAD request says nothing.
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


_PARALLEL = 16
# A part of an upload must be sent within the read timeout, so uploads have a longer timeout. `put` first checks whether
# the object exists, with the short timeout, which detects a server that hangs.
_READ_TIMEOUT, _UPLOAD_TIMEOUT = "4s", "60s"
_SLOW_SECONDS, _LEAST_RATE = 4.0, 64 * 1024
"""An original must come in the seconds of the first answer, and beyond them at this many bytes a second."""
_PART, _PARTS_AT_ONCE = 8 << 20, 4


class BucketFileStore:
    """Fills `core.ports.files.FileStore`: prefix/<corpus>/<first two digits>/<hash>, in any server that speaks S3.

    `url` is s3://bucket or s3://bucket/prefix; server, region and credentials are in the environment, in Amazon's own
    variables. Raises `InvalidSettings`. Nothing connects before the first call, and no thread or loop is kept, so one
    store serves any number of event loops. It does not survive a fork: the SDK's threads stay with the parent.
    """

    def __init__(self, url: str) -> None:
        self._address = BucketAddress.read(url, os.environ)

    async def put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        return await asyncio.to_thread(self._put, _corpus_folder(corpus_id), contents)

    async def get(self, corpus_id: str, name: str) -> bytes:
        key = original_path(_corpus_folder(corpus_id), name).as_posix()

        def work() -> bytes:
            with _translate_errors(self._address, f"no original {name} is kept for corpus {corpus_id}"):
                content = self._read(key)
            if content_hash(content) != name:  # a proxy's own page, or part of the object: it must not be indexed
                raise Unavailable(
                    f"{self._address} sends other bytes than were stored as {key}: check what lies between, and "
                    "AWS_ENDPOINT_URL; if the object itself is damaged, delete it and hand the document in again"
                )
            return content

        return await asyncio.to_thread(work)

    async def put_derived(self, corpus_id: str, name: str, content: bytes) -> None:
        original = original_path(_corpus_folder(corpus_id), name)
        key = derived_path(original).as_posix()

        def work() -> None:
            if self._has_object(original.as_posix()):
                with _translate_errors(self._address):
                    obstore.put(self._writing, key, content, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
            if not self._has_object(original.as_posix()):  # `delete` deletes the original first
                self._delete_one(key)

        await asyncio.to_thread(work)

    async def get_derived(self, corpus_id: str, name: str) -> bytes | None:
        key = derived_path(original_path(_corpus_folder(corpus_id), name)).as_posix()

        def work() -> bytes | None:
            try:
                with _translate_errors(self._address, must_say=False):
                    return self._read(key)
            except NotFound:
                return None

        return await asyncio.to_thread(work)

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        paths = [original_path(_corpus_folder(corpus_id), name) for name in names]
        await asyncio.to_thread(self._delete, [path.as_posix() for path in paths])
        await asyncio.to_thread(self._delete, [derived_path(path).as_posix() for path in paths])

    async def delete_corpus(self, corpus_id: str) -> None:
        corpus = _corpus_folder(corpus_id)

        def work() -> None:
            for keys in self._list_pages(corpus):
                self._delete(keys)

        await asyncio.to_thread(work)

    async def names(self, corpus_id: str) -> list[str]:
        corpus = _corpus_folder(corpus_id)

        def work() -> list[str]:
            names = (key.rpartition("/")[2] for keys in self._list_pages(corpus) for key in keys)
            return sorted(name for name in names if is_name(name))

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """Returns the bucket after it has answered. Raises `Unavailable` or `InvalidSettings`."""

        def work() -> str:
            # Only the response to a GET says whether the object or the bucket is missing.
            with suppress(NotFound), _translate_errors(self._address):
                obstore.get(self._reading, ".check")
            return f"the bucket {self._address}"

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Does nothing: idle connections are closed by the SDK."""

    def _read(self, key: str) -> bytes:
        """Reads an object. Raises `Unavailable` if it comes too slowly, which no limit of silence notices."""
        began, size, parts = time.monotonic(), 0, []
        for part in obstore.get(self._reading, key).stream(min_chunk_size=1):
            parts.append(part)
            size += len(part)
            if time.monotonic() - began > _SLOW_SECONDS + size / _LEAST_RATE:
                raise Unavailable(
                    f"{self._address} sends {key} too slowly ({size:,} bytes until now): check its server, and "
                    "AWS_ENDPOINT_URL"
                )
        return b"".join(parts)

    def _put(self, corpus: Path, contents: Iterable[bytes]) -> list[str]:
        names: list[str] = []
        remaining = iter(contents)
        with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="originals") as threads:
            while some := list(islice(remaining, _PARALLEL)):  # `contents` may be a generator
                names += threads.map(lambda content: self._put_one(corpus, content), some)
        return names

    def _put_one(self, corpus: Path, content: bytes) -> str:
        name = content_hash(content)
        key = original_path(corpus, name).as_posix()
        if not self._has_object(key):
            with _translate_errors(self._address):
                obstore.put(self._writing, key, content, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
        return name

    def _has_object(self, key: str) -> bool:
        try:
            with _translate_errors(self._address, must_say=False):
                obstore.head(self._reading, key)
        except NotFound:
            return False
        return True

    def _list_pages(self, corpus: Path) -> Iterator[list[str]]:
        with _translate_errors(self._address):
            for page in obstore.list(self._reading, corpus.as_posix(), chunk_size=1000):
                yield [meta["path"] for meta in page]

    def _delete(self, keys: Iterable[str]) -> None:
        with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="originals") as threads:
            for _ in threads.map(self._delete_one, keys):
                pass  # the iterator raises what a thread raised

    def _delete_one(self, key: str) -> None:
        with (
            suppress(NotFound),
            _translate_errors(self._address, must_say=False),
        ):  # some servers report a missing object
            obstore.delete(self._writing, key)

    @cached_property
    def _reading(self) -> S3Store:
        return self._connect(_READ_TIMEOUT)

    @cached_property
    def _writing(self) -> S3Store:
        return self._connect(_UPLOAD_TIMEOUT)

    def _connect(self, read_timeout: str) -> S3Store:
        """Opens a client. obstore reads from the environment what is not given here."""
        options: dict[str, Any] = {
            "bucket": self._address.bucket,
            "prefix": self._address.prefix or None,
            "region": self._address.region,
            # Servers other than Amazon S3 lack bulk deletion or implement it differently.
            "disable_bulk_delete": True,
            # Not as `client_options`, which would replace the options from the environment.
            "connect_timeout": "2s",
            "read_timeout": read_timeout,
            "timeout": "10m",
            "retry_config": {"max_retries": 2, "retry_timeout": timedelta(seconds=2)},
        }
        if self._address.endpoint:
            options["endpoint"] = self._address.endpoint
        with _translate_errors(self._address):
            return S3Store(**options)


def _corpus_folder(corpus_id: str) -> Path:
    return corpus_folder(Path(), corpus_id)
