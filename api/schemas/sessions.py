"""The bodies of `/v1/session`: a key, and what its holder may do."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.schemas.base import In, Out, Text
from core.keys import Scope


class KeyIn(In):
    key: Annotated[Text, Field(min_length=1, max_length=4096, description="A key of this server.")]


class SignedInOut(Out):
    """`expires_at` is the end of the session, or of the key where it was sent itself; null if it has none."""

    id: str | None = Field(description="The id of the key; null for a key of the settings, and where none is needed.")
    name: str | None = Field(description="The name of the key, or the user of a token; null where none is needed.")
    scopes: list[Scope] = Field(description="All that the caller may do: `admin` comes with all others.")
    corpora: list[str] | None = Field(description="The corpora that the caller may see; null for all.")
    expires_at: datetime | None


class ProviderOut(Out):
    name: str | None = Field(description="The name of the identity provider; null where only a key signs in.")


class SessionOut(SignedInOut):
    needs_key: bool = Field(description="False while the server has no key, and answers its own machine without one.")
    provider: str | None = Field(description="The identity provider that has named the caller; null for a key.")
    model: bool = Field(description="Whether a language model is configured.")
    web: bool = Field(description="Whether a web search is configured, which questions may then permit.")
    neo4j_browser: str | None = Field(description="The address of Neo4j Browser, if one is configured.")
    version: str
