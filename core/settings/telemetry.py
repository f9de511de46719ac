"""Settings of logs and metrics. Traces have the variables of OpenTelemetry (`OTEL_…`)."""

from typing import Literal

from pydantic import Field, field_validator

from core.settings.section import Section

__all__ = ["LogSettings", "MetricsSettings"]


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
