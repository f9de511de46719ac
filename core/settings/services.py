"""Settings of the broker, workers and their parsers, docling, the HTTP server, web search, the budget of a question,
logs and metrics.

Traces have the variables of OpenTelemetry (`OTEL_…`).
"""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from core.keys import Scope
from core.ports.retrieval import MAX_K
from core.settings.section import Section, SentKey, address_like, expand_home

_ORIGIN = re.compile(r"https?://[^/\s@?#]+", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^/\s@?#]+(/[^\s?#]*)?", re.IGNORECASE)
_SECRET_LENGTH = 32


class BrokerSettings(Section):
    """The message broker that notifies workers."""

    url: str = Field(
        default="filesystem://",
        description="Celery's filesystem broker in the data folder; on servers `redis://…` or `amqp://…`.",
    )


class WorkerSettings(Section):
    """How workers claim work. The defaults are for production; tests use shorter times."""

    lease_seconds: float = Field(default=60.0, gt=0, le=3600)
    renew_seconds: float = Field(default=15.0, gt=0)
    sweep_seconds: float = Field(default=15.0, gt=0, description="Seconds between searches for queued or expired work.")
    batch_bytes: int = Field(default=256_000, ge=1)
    task_seconds: float = Field(
        default=60.0, gt=0, description="Seconds after which a task puts the rest of its work back."
    )
    retry_minutes: float = Field(default=15.0, ge=0, description="Minutes for which an unavailable store is retried.")
    document_mb: float = Field(default=256.0, gt=0, description="The largest document, and the longest text of one.")
    document_passages: int = Field(default=250_000, ge=1, description="The most passages of a document.")
    document_seconds: float = Field(
        default=60.0, gt=0, description="Seconds of the processor for each megabyte of a document, and for less."
    )


class ParserSettings(Section):
    """The limits of the process that parses binary files, for each file."""

    memory_mb: int = Field(default=1024, ge=64)
    seconds: float = Field(default=120.0, gt=0)
    output_mb: int = Field(default=256, ge=1, description="The text of a file, in UTF-8.")
    estimate_seconds: float = Field(default=30.0, gt=0, description="Seconds for reading a file of an estimate.")
    image_seconds: float = Field(default=20.0, gt=0, description="Seconds for drawing the image of a page of a PDF.")


class DoclingSettings(Section):
    """Which files docling reads in place of our own loaders, at an endpoint or in a process of its own. Off without
    `formats`.
    """

    formats: list[Literal["pdf", "docx", "pptx", "xlsx", "html", "odt", "ods", "epub"]] = Field(
        default_factory=list, description="Loaders whose files docling reads, as a JSON list."
    )
    url: Annotated[str, address_like("http://127.0.0.1:5001")] = Field(
        default="", description="The address of docling-serve. Empty: docling itself, of the extra `docling`."
    )
    api_key: SentKey = SecretStr("")
    seconds: float = Field(default=1800.0, gt=0, description="Seconds in which a file is converted.")
    ocr: bool = Field(default=True, description="Whether images of text are read.")
    ocr_languages: list[str] = Field(
        default_factory=list, description="Languages as docling's OCR engine names them; empty: its own."
    )
    artifacts: Path | None = Field(
        default=None, description="The folder of docling's models, where no endpoint reads PDF files."
    )
    memory_mb: int = Field(
        default=8192, ge=512, description="Megabytes of memory for docling, where it runs in a process of its own."
    )

    @field_validator("artifacts", mode="before")
    @classmethod
    def _no_folder(cls, value: object) -> object:
        return value or None  # an empty variable would be the working directory

    @field_validator("artifacts")
    @classmethod
    def _expand_home(cls, path: Path | None) -> Path | None:
        return None if path is None else expand_home(path)

    @model_validator(mode="after")
    def _check_place(self) -> "DoclingSettings":
        if self.url and not self.formats:
            raise ValueError('an address without `formats` converts nothing: name some, such as ["pdf"]')
        if "pdf" in self.formats and not self.url and self.artifacts is None:
            raise ValueError("docling reads PDF files with models: give `url`, or their folder in `artifacts`")
        return self


def _check_length(secret: SecretStr) -> SecretStr:
    if 0 < len(secret.get_secret_value()) < _SECRET_LENGTH:
        raise ValueError(f"a secret has at least {_SECRET_LENGTH} characters: `openssl rand -hex 32` makes one")
    return secret


class ApiSettings(Section):
    """The HTTP server."""

    keys: list[SecretStr] = Field(default_factory=list, description="Accepted bearer keys, as a JSON list.")
    proxies: list[str] = Field(
        default_factory=list,
        description="Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.",
    )
    hosts: list[str] = Field(default_factory=list, description="Further names that the `Host` header may have.")
    max_body_mb: float = Field(default=64.0, gt=0, description="The largest body of JSON that has documents.")
    max_upload_mb: float = Field(default=512.0, gt=0, description="The largest upload of files, all together.")
    max_import_mb: float = Field(
        default=10_000.0, gt=0, description="The largest exported corpus that is imported, uncompressed."
    )
    max_file_mb: float = Field(default=128.0, gt=0, description="The largest file of an upload.")
    max_files: int = Field(default=1000, ge=1, le=1000, description="The number of files of an upload.")
    max_queued: int = Field(
        default=1_000_000, ge=1, description="The number of documents of a corpus that wait to be indexed."
    )
    public_url: str = Field(
        default="", description="The address at which users reach this server, for links in answers."
    )
    chat_sources: Literal["both", "inline", "annotations"] = Field(
        default="both", description="How answers of the chat routes name their sources."
    )
    max_k: int = Field(default=MAX_K, ge=1, le=MAX_K, description="The largest `k` of a search or a question.")
    max_depth: int = Field(default=6, ge=1, le=6, description="The largest `depth` of a neighbourhood.")
    max_history: int = Field(default=100, ge=0, description="The number of messages in the `history` of a question.")
    max_streams: int = Field(default=32, ge=1, description="Streams of one key at once, per process.")
    header_seconds: float = Field(default=15.0, gt=0, description="Seconds in which a request's headers must arrive.")
    body_seconds: float = Field(default=30.0, gt=0, description="Seconds without a byte of a body that has begun.")
    body_bytes_per_second: int = Field(default=4_000, ge=0, description="The slowest body, after `body_seconds`.")
    write_seconds: float = Field(
        default=30.0, gt=0, description="Seconds in which a client must take some more of a response that waits."
    )
    max_connections: int = Field(default=1000, ge=8, description="Open connections of a process.")
    max_connections_of_address: int = Field(
        default=500, ge=1, description="Those of one address, unless it is a proxy of `proxies`."
    )
    drain_seconds: int = Field(default=30, ge=1, description="Seconds that work may take to end after SIGTERM.")
    warm_seconds: float = Field(default=60.0, ge=0, description="The longest time until the server says it is ready.")
    warm_corpora: int = Field(
        default=16, ge=0, description="The number of corpora that are loaded before that, and then kept up to date."
    )
    cors_origins: list[str] = Field(
        default_factory=list, description="Origins whose pages may call this server, such as https://app.example."
    )
    session_hours: float = Field(
        default=12.0, gt=0, le=720, description="The longest session of the web page; it ends with its key, too."
    )
    session_secret: SecretStr = Field(
        default=SecretStr(""), description="Signs sessions; the same on all hosts. Empty: a file in the data folder."
    )

    @field_validator("public_url")
    @classmethod
    def _check_address(cls, address: str) -> str:
        if address and not _ADDRESS.fullmatch(address):
            raise ValueError(
                f"{address[:80]!r} is no address of the web: give scheme and host, such as https://search.example"
            )
        return address.rstrip("/")

    @field_validator("proxies")
    @classmethod
    def _check_proxies(cls, proxies: list[str]) -> list[str]:
        for proxy in proxies:
            try:
                ip_network(proxy)
            except ValueError as error:
                raise ValueError(
                    f"{proxy[:80]!r} is no address of a proxy: give addresses or networks, such as 10.0.0.0/24"
                ) from error
        return proxies

    @field_validator("session_secret")
    @classmethod
    def _check_secret(cls, secret: SecretStr) -> SecretStr:
        return _check_length(secret)

    @field_validator("cors_origins")
    @classmethod
    def _check_origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin[:80]!r} is no origin: give scheme, host and port without a path, such as "
                    "https://app.example or http://localhost:3000"
                )
        return [origin.lower() for origin in origins]


class OidcRule(Section):
    """What the holders of tokens may do whose claim `claim` has one of `values` (without `claim`: all of them)."""

    claim: str = ""
    values: list[str] = Field(default_factory=list)
    scopes: list[Scope] = Field(min_length=1)
    corpora: list[str] | None = None


class OidcSettings(Section):
    """Tokens of an identity provider that speaks OpenID Connect. Off without `issuer`."""

    issuer: Annotated[str, address_like("https://login.example")] = Field(
        default="", description="The issuer's address, as its tokens have it in `iss`."
    )
    audience: str = Field(default="", description="What tokens for this server have in `aud`.")
    jwks_url: Annotated[str, address_like("https://login.example/keys")] = Field(
        default="", description="The address of the issuer's keys; empty: what the issuer's description says."
    )
    user_claim: str = Field(default="sub", min_length=1, description="The claim whose text is the user.")
    groups_claim: str = Field(default="groups", min_length=1, description="The claim that lists the groups.")
    rules: list[OidcRule] = Field(
        default_factory=list,
        description="Scopes and corpora of holders; the first rule that fits counts. Empty: all may read.",
    )
    requested_scopes: list[str] = Field(
        default_factory=list, description="Scopes that clients are told to ask the issuer for."
    )
    name: str = Field(
        default="", max_length=60, description="The provider on the button of the web page; empty: the issuer's host."
    )
    client_id: str = Field(default="", description="This server at the issuer, for the sign-in of the web page.")
    client_secret: SecretStr = Field(default=SecretStr(""), description="Empty for a client without a secret.")
    client_scopes: list[str] = Field(
        default=["openid", "profile", "email"], description="Scopes that the sign-in of the web page asks for."
    )

    @property
    def shown_name(self) -> str:
        return self.name or urlsplit(self.issuer).netloc

    @model_validator(mode="after")
    def _check_whole(self) -> "OidcSettings":
        if self.issuer and not self.audience:
            raise ValueError("an issuer signs tokens for many programs: give the `audience` of this one")
        if self.client_id and not self.issuer:
            raise ValueError("a `client_id` is one of an `issuer`: give its address, too")
        if self.client_id and "openid" not in self.client_scopes:
            raise ValueError("without the scope `openid`, the issuer does not say who signs in: add it to the scopes")
        for address in (self.issuer, self.jwks_url):
            parts = urlsplit(address)
            if address and parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
                raise ValueError(f"{address[:80]!r} is not over HTTPS, so that anybody between could sign tokens")
        return self


class CertificateSettings(Section):
    """Certificates of deletions."""

    secret: SecretStr = Field(
        default=SecretStr(""),
        description="Signs certificates of deletions; the same on all hosts. Empty: a file in the data folder.",
    )

    @field_validator("secret")
    @classmethod
    def _check_secret(cls, secret: SecretStr) -> SecretStr:
        return _check_length(secret)


class QuestionSettings(Section):
    """Questions that the server answers in the background and stores (`…/questions`)."""

    days: int = Field(
        default=7,
        ge=0,
        le=36_500,
        description="Days for which a question that is not kept stays. 0: a minute, so that its answer can be read.",
    )
    max_running: int = Field(default=8, ge=1, description="Questions of one key that run at once.")
    lease_seconds: float = Field(
        default=30.0, ge=1, description="Seconds without a sign of its process after which a question has failed."
    )

    @property
    def stored_seconds(self) -> float:
        """How long a question that is not kept is stored after its end."""
        return self.days * 86_400.0 or 60.0


class McpSettings(Section):
    """The tools for language models, at `/mcp` and by `hopweave mcp`."""

    write: bool = Field(default=False, description="Also offer the tools that add and delete documents.")
    corpus: str = Field(default="", description="The corpus of calls that name none. Empty: the only one.")


class WebSettings(Section):
    """The search engine of the searcher `web`. Off without `kind`."""

    kind: Literal["", "searxng", "tavily"] = ""
    url: Annotated[str, address_like("http://127.0.0.1:8888")] = Field(
        default="", description="The instance's address; empty for Tavily's own."
    )
    api_key: SentKey = SecretStr("")
    timeout: float = Field(default=10.0, gt=0)
    after_private: bool = Field(
        default=False, description="Also send queries that a model wrote after it was shown passages of the corpus."
    )


class BudgetSettings(Section):
    """The limits of one question, unless the request sets others. 0 is no limit."""

    calls: int | None = Field(default=200, ge=1)
    tokens: int | None = Field(default=500_000, ge=1)
    seconds: float | None = Field(default=600.0, gt=0)

    @field_validator("calls", "tokens", "seconds", mode="before")
    @classmethod
    def _no_limit(cls, value: object) -> object:
        return None if value in (0, "0") else value


class LogSettings(Section):
    """The logs of the server and of workers."""

    format: Literal["text", "json"] = "text"
    level: Literal["debug", "info", "warning", "error"] = "info"
    file_mb: float = Field(default=10.0, gt=0, description="The size at which a log file is replaced by a new one.")
    files: int = Field(default=3, ge=1, le=100, description="The number of older files that are kept beside it.")

    @field_validator("format", "level", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value


class MetricsSettings(Section):
    """Metrics for Prometheus."""

    corpora: bool = Field(default=False, description="Whether metrics have the label `corpus`.")
    worker_address: str = Field(
        default="", description="`HOST:PORT` at which `hopweave worker` serves its metrics; empty: nowhere."
    )

    @field_validator("worker_address")
    @classmethod
    def _address(cls, value: str) -> str:
        host, _, port = value.rpartition(":")
        if value and (not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536):
            raise ValueError(f"{value!r} is no address; write HOST:PORT, such as 127.0.0.1:9464")
        return value
