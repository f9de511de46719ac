"""Files that docling reads in place of our own loaders: at an endpoint, or in a parser process of its own."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from core.ports.indexing import FileConverter, LoadedDocument, Loader, Source
from indexer.isolation.limits import ParserLimits
from indexer.isolation.parser_process import IsolatedLoader, ParserProcess

_REPLY, _LOCAL = "indexer.loading.docling.reply", "indexer.loading.docling.local"


class Docling(Protocol):
    """Makes loaders that use docling."""

    @property
    def formats(self) -> frozenset[str]:
        """The names of the loaders whose files docling reads."""
        ...

    def make_loader(self, format: str, process: ParserProcess) -> Loader:
        """Returns the loader of a format. `process` is the parser process of our own loaders."""
        ...

    def interrupt(self) -> None:
        """Ends the conversion of files, which fail."""
        ...

    def close(self) -> None:
        """Ends connections and processes. The next file opens new ones."""
        ...


class DoclingEndpoint:
    """docling at an endpoint. What it replies is read in the parser process of our own loaders."""

    def __init__(self, formats: Collection[str], converter: FileConverter) -> None:
        self.formats = frozenset(formats)
        self._converter = converter

    def make_loader(self, format: str, process: ParserProcess) -> Loader:
        return _EndpointLoader(format, self._converter, process)

    def interrupt(self) -> None:
        self._converter.interrupt()

    def close(self) -> None:
        self._converter.close()


@dataclass(frozen=True)
class _EndpointLoader:
    format: str
    converter: FileConverter
    process: ParserProcess

    def load(self, source: Source) -> LoadedDocument:
        from indexer.loading.docling.reply import Config, pack  # imports parsers

        reply = self.converter.convert(source, self.format)
        loader = IsolatedLoader(module=_REPLY, config=Config(format=self.format), process=self.process)
        return loader.load(replace(source, content=pack(source.content, reply)))


class DoclingProcess:
    """docling in a parser process of its own, with `limits` of its own: its models take gigabytes."""

    def __init__(
        self,
        formats: Collection[str],
        *,
        artifacts: str,
        limits: ParserLimits,
        ocr: bool = True,
        languages: tuple[str, ...] = (),
    ) -> None:
        """`artifacts` is the folder of the models, '' if there is none."""
        self.formats = frozenset(formats)
        self._options = {"artifacts": artifacts, "ocr": ocr, "languages": languages, "seconds": limits.seconds}
        self._process = ParserProcess(limits, readable=[artifacts] if artifacts else [])

    def make_loader(self, format: str, process: ParserProcess) -> Loader:  # noqa: ARG002 - of the protocol
        from indexer.loading.docling.local import Config  # imports parsers

        config = Config.model_validate({**self._options, "format": format})
        return IsolatedLoader(module=_LOCAL, config=config, process=self._process)

    def interrupt(self) -> None:
        self._process.interrupt()

    def close(self) -> None:
        self._process.close()
