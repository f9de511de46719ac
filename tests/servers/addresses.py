"""Where servers are, as tests see them: the same for the shared instances and for some that run elsewhere."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeVar

from tests.servers import neo4j_server, s3_server


@dataclass(frozen=True, kw_only=True)
class Neo4jAddress:
    uri: str
    user: str = neo4j_server.USER
    password: str = field(default=neo4j_server.PASSWORD, repr=False)
    browser: str = "http://127.0.0.1:7474/browser/"


@dataclass(frozen=True, kw_only=True)
class MilvusAddress:
    uri: str
    token: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class RedisAddress:
    url: str


@dataclass(frozen=True, kw_only=True)
class S3Address:
    endpoint: str
    bucket: str = s3_server.BUCKET
    access_key: str = s3_server.ACCESS_KEY
    secret_key: str = field(default=s3_server.SECRET_KEY, repr=False)
    region: str = s3_server.S3Server.region

    @property
    def environment_of_clients(self) -> Mapping[str, str]:
        """What S3's own clients read from the environment."""
        return s3_server.environment_of_clients(self.endpoint, self.access_key, self.secret_key, self.region)


Address = TypeVar("Address", Neo4jAddress, MilvusAddress, RedisAddress, S3Address)

# Read once, before any test: tests see no settings of the developer's own.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name.startswith("HOPWEAVE_TEST_")}


def from_environment(kind: type[Address], server: str) -> Address | None:
    """From `HOPWEAVE_TEST_<SERVER>_<FIELD>`; None if none is set."""
    variables = {field.name: f"HOPWEAVE_TEST_{server}_{field.name.upper()}" for field in fields(kind)}
    found = {name: _ENVIRONMENT[variable] for name, variable in variables.items() if variable in _ENVIRONMENT}
    return kind(**found) if found else None
