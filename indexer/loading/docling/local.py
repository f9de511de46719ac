"""Loads files with docling itself, in a parser process of its own: the extra `docling`, with models from a folder.

Formats other than PDF need no models.
"""

import io
import json
import tempfile
from functools import cache
from typing import Any

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.docling.reply import load_reply

_SHOWN = 200


class Config(StrategyConfig):
    """`format` is the name of the loader that would read the file, `artifacts` the folder of the models."""

    format: str = "pdf"
    artifacts: str = ""
    ocr: bool = True
    languages: tuple[str, ...] = ()
    seconds: float = Field(default=1800.0, gt=0)


class LocalLoader:
    """Converts a file, and reads the result as if docling-serve had replied it."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        tempfile.tempdir = tempfile.tempdir or "/"  # libraries look for a folder, and the process can write to none
        from docling.datamodel.base_models import DocumentStream

        format = self._config.format
        converter = _make_converter(self._config)
        stream = DocumentStream(name=f"document.{format}", stream=io.BytesIO(source.content))
        try:
            result = converter.convert(stream, raises_on_error=False)
        except FileNotFoundError as error:
            words = one_line(str(error))[:_SHOWN]
            raise LoadFailed(
                f"{source.key!r} cannot be read: docling lacks a model ({words}): put its models into the folder of "
                "HOPWEAVE_DOCLING__ARTIFACTS (`docling-tools models download`), then retry the document"
            ) from error
        reply = {
            "document": {"json_content": result.document.export_to_dict()},
            "status": result.status.value,
            "errors": [{"error_message": error.error_message} for error in result.errors],
        }
        return load_reply(source, format, source.content, json.dumps(reply).encode())


@cache
def _make_converter(config: Config) -> Any:
    """Returns the converter of these options. It keeps its models, so a process loads them once."""
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions
    from docling.document_converter import DocumentConverter, PdfFormatOption

    options = PdfPipelineOptions(
        artifacts_path=config.artifacts or None, do_ocr=config.ocr, document_timeout=config.seconds
    )
    if config.languages:
        options.ocr_options.lang = list(config.languages)
    return DocumentConverter(
        allowed_formats=[InputFormat(config.format)],
        format_options={InputFormat.PDF: PdfFormatOption(pipeline_options=options)},
    )


def build(config: Config, _backends: object) -> Loader:
    return LocalLoader(config)
