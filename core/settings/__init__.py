"""Settings: one pydantic model for each section, and how they are read. Open it to add or find a setting.

Each field is `HOPWEAVE_<NAME>` in the environment (nested: `HOPWEAVE_EMBEDDING__MODEL`), or the same name in
`hopweave.toml` in the working directory; the environment wins. `HOPWEAVE_<NAME>_FILE` names a file with the value. Only
`app` reads settings, once; strategies see their own Config, and adapters see plain values.
"""

from core.settings.models import EmbeddingSettings, LlmSettings, RerankerSettings, RoleSettings
from core.settings.reading import read_settings
from core.settings.services import (
    ApiSettings,
    BrokerSettings,
    BudgetSettings,
    CertificateSettings,
    DoclingSettings,
    LogSettings,
    McpSettings,
    MetricsSettings,
    OidcRule,
    OidcSettings,
    QuestionSettings,
    WebSettings,
    WorkerSettings,
)
from core.settings.settings import Settings
from core.settings.stores import (
    FilesSettings,
    HnswSettings,
    MilvusSettings,
    Neo4jSettings,
    StoreSettings,
    TrailSettings,
)

__all__ = [
    "ApiSettings",
    "BrokerSettings",
    "BudgetSettings",
    "CertificateSettings",
    "DoclingSettings",
    "EmbeddingSettings",
    "FilesSettings",
    "HnswSettings",
    "LlmSettings",
    "LogSettings",
    "McpSettings",
    "MetricsSettings",
    "MilvusSettings",
    "Neo4jSettings",
    "OidcRule",
    "OidcSettings",
    "QuestionSettings",
    "RerankerSettings",
    "RoleSettings",
    "Settings",
    "StoreSettings",
    "TrailSettings",
    "WebSettings",
    "WorkerSettings",
    "read_settings",
]
