"""A loader that runs another loader in a parser process."""

from dataclasses import dataclass

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Source
from core.strategies import StrategyConfig
from indexer.isolation.frames import LOAD, decode_document
from indexer.isolation.parser_process import ParserProcess

__all__ = ["IsolatedLoader"]


@dataclass(frozen=True, kw_only=True)
class IsolatedLoader:
    """Runs the loader of `module`, with the options `config`, in `process`."""

    module: str
    config: StrategyConfig
    process: ParserProcess

    def load(self, source: Source) -> LoadedDocument:
        request = {
            "task": LOAD,
            "module": self.module,
            "config": self.config.model_dump(mode="json"),
            "key": source.key,
            "media_type": source.media_type,
            "title": source.title,
        }
        reply = self.process.parse(source.key, request, source.content)
        try:
            return decode_document(source.key, reply)
        except ValueError as error:
            raise LoadFailed(f"{source.key!r} cannot be read: its parser sent no valid reply ({error})") from error
