"""All settings in one value, and the check that stores and services fit together."""

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from core.corpora import Fine
from core.ports.reasoning import Unsupported
from core.settings.models import EmbeddingSettings, LlmSettings, RerankerSettings
from core.settings.section import default_data_dir, expand_home
from core.settings.services import (
    ApiSettings,
    BrokerSettings,
    BudgetSettings,
    CertificateSettings,
    DoclingSettings,
    LogSettings,
    McpSettings,
    MetricsSettings,
    OidcSettings,
    ParserSettings,
    QuestionSettings,
    WebSettings,
    WorkerSettings,
)
from core.settings.stores import FilesSettings, MilvusSettings, Neo4jSettings, StoreSettings, TrailSettings

PREFIX = "HOPWEAVE_"

TOML_FILE = "hopweave.toml"


class Settings(BaseSettings):
    """All settings."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        toml_file=TOML_FILE,
        extra="forbid",
        frozen=True,
    )

    data_dir: Path = Field(default_factory=default_data_dir)
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
    parser: ParserSettings = ParserSettings()
    docling: DoclingSettings = DoclingSettings()
    loaders: list[str] = Field(default_factory=list, description="Options of loaders, such as `pdf:ocr=never`.")
    api: ApiSettings = ApiSettings()
    oidc: OidcSettings = OidcSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    mcp: McpSettings = McpSettings()
    questions: QuestionSettings = QuestionSettings()
    certificates: CertificateSettings = CertificateSettings()
    chunker: str = "sentences"
    extractor: str = Field(
        default="pattern", description="`auto`: `pattern+llm` where a model is configured for it, else `pattern`."
    )
    fine: Fine = Fine.AUTO
    searcher: str = "bridged"
    reasoner: str = Field(default="", description="Empty: `auto` where a model is configured, else `extractive`.")
    unsupported: Unsupported = Unsupported.INFER
    prompts_dir: Path | None = Field(
        default=None, description="A folder of prompts that replace those of the product, or `published`."
    )

    @property
    def on_servers(self) -> bool:
        """Whether the record is on a server, which many workers and API processes share.

        If not, all data is in the data folder of one machine.
        """
        return self.store.record == "neo4j"

    @field_validator("extractor")
    @classmethod
    def _resolve_extractor(cls, extractor: str, info: ValidationInfo) -> str:
        if extractor != "auto":
            return extractor
        llm = info.data.get("llm", LlmSettings())
        return "pattern+llm" if llm.model or "extract" in llm.roles else "pattern"

    @field_validator("data_dir", "prompts_dir")
    @classmethod
    def _expand_home(cls, path: Path | None) -> Path | None:
        return None if path is None else expand_home(path)

    @field_validator("data_dir", mode="before")
    @classmethod
    def _no_data_dir(cls, value: object) -> object:
        return default_data_dir() if value == "" else value  # the empty path would be the working directory

    @field_validator("data_dir")
    @classmethod
    def _check_folder(cls, path: Path) -> Path:
        for part in (path, *path.parents):
            if part.is_file():
                raise ValueError(f"{str(part)!r} is a file; name a folder")
        return path

    @field_validator("prompts_dir", mode="before")
    @classmethod
    def _no_folder(cls, value: object) -> object:
        return value or None  # an empty variable would be the working directory

    @model_validator(mode="after")
    def _one_kind(self) -> "Settings":
        """Refuses mixes of embedded and server technologies, which would lose the guarantees of both."""
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
        missing = [f"{PREFIX}{name}" for name, is_wrong in wrong.items() if is_wrong]
        if missing:
            raise ValueError(f"with {PREFIX}STORE__RECORD={self.store.record} it needs {', '.join(missing)}")
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
