"""Values as the JSON that the databases keep, and back: one form everywhere."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from core.corpora import CorpusSettings, Fine
from core.graph import Extraction, Surface, Triple

__all__ = ["dump", "dump_extraction", "dump_settings", "load_extraction", "load_settings", "moment"]


def dump(value: Any) -> str:
    """JSON in one form: sorted keys, no escapes, so equal values are equal text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def dump_settings(settings: CorpusSettings) -> str:
    return dump(asdict(settings))


def load_settings(payload: str) -> CorpusSettings:
    settings: dict[str, Any] = json.loads(payload)
    return CorpusSettings(**{**settings, "fine": Fine(settings["fine"])})


def dump_extraction(extraction: Extraction) -> str:
    return dump(
        {
            "entities": [[s.form, s.count] for s in extraction.entities],
            "triples": [[t.subject, t.predicate, t.object] for t in extraction.triples],
            "malformed": extraction.malformed,
        }
    )


def load_extraction(payload: str) -> Extraction:
    data: Mapping[str, Any] = json.loads(payload)
    return Extraction(
        entities=tuple(Surface(form=form, count=count) for form, count in data["entities"]),
        triples=tuple(Triple(subject=s, predicate=p, object=o) for s, p, o in data["triples"]),
        malformed=data["malformed"],
    )
