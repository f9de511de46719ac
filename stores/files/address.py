"""The address of a bucket, from HOPWEAVE_FILES__URL and the AWS variables of the environment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.errors import InvalidSettings

__all__ = ["BucketAddress"]

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
    """Empty: the one of Amazon S3 in `region`."""
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
