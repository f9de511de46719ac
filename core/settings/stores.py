"""Settings of stores: which technology stores what, and the servers. Open it to add a store's settings."""

from typing import Literal

from pydantic import Field, SecretStr, field_validator

from core.settings.section import Section, expand_home_in


class StoreSettings(Section):
    """Which technology stores what."""

    record: Literal["sqlite", "neo4j"] = "sqlite"
    vectors: Literal["sqlite", "milvus"] = "sqlite"
    text: Literal["tantivy", "neo4j"] = "tantivy"
    exact_vectors: int = Field(
        default=50_000,
        ge=0,
        description="Up to this number of vectors of a kind in SQLite, a search compares all of them.",
    )
    mapped_snapshots: bool = Field(
        default=True, description="Snapshots of the graph are in files of the data folder, which processes share."
    )


class Neo4jSettings(Section):
    """The server of the record. `bolt://` is for a single server; `neo4j://` asks the server for the others of its
    cluster.
    """

    uri: str = "bolt://127.0.0.1:7687"
    user: str = "neo4j"
    password: SecretStr = SecretStr("")
    database: str = "neo4j"
    browser_url: str = Field(
        default="", description="The address of Neo4j Browser, to which the web page leads; empty: nowhere."
    )

    @field_validator("browser_url")
    @classmethod
    def _check_address(cls, address: str) -> str:
        if address and not address.lower().startswith(("http://", "https://")):
            raise ValueError(
                f"{address[:80]!r} is no address of the web: give one such as http://localhost:7474/browser"
            )
        return address


class HnswSettings(Section):
    """Parameters of Milvus' HNSW index. Greater values find more of the nearest vectors, and cost memory and time."""

    m: int = Field(default=16, ge=4, le=64, description="Neighbours of each vector; memory grows with it.")
    ef_construction: int = Field(default=200, ge=8, le=512, description="Candidates when a vector is inserted.")
    ef: int = Field(
        default=128, ge=1, le=32_768, description="Candidates of a search, at least as many as its results."
    )


class MilvusSettings(Section):
    """The server of the vectors. Existing collections keep the index that they were created with."""

    uri: str = "http://127.0.0.1:19530"
    token: SecretStr = Field(
        default=SecretStr(""), description="`user:password` or an API key; empty: no authentication."
    )
    exact_rows: int = Field(
        default=20_000,
        ge=0,
        description="Up to this number of vectors a search compares all of them; above it uses the index.",
    )
    index: Literal["HNSW", "FLAT"] = Field(default="HNSW", description="`FLAT` always compares all vectors.")
    hnsw: HnswSettings = HnswSettings()


class TrailSettings(Section):
    """Answer trails: answers written into Neo4j, to be explored in Neo4j Browser."""

    enabled: bool = False
    days: float = Field(default=7.0, gt=0, description="Days after which a trail is deleted.")


class FilesSettings(Section):
    """Where uploaded originals are stored."""

    url: str = Field(
        default="", description="A folder, or `s3://bucket/prefix`; empty means `files` in the data folder."
    )

    _expand_home = field_validator("url")(expand_home_in)
