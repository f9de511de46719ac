"""The forms that can be imported, and the import of files into a folder. Add a new form here."""

from collections.abc import Sequence
from pathlib import Path

from core.errors import InvalidInput
from evaluation.importers import flashrag, hotpotqa, musique, strategyqa, twowiki
from evaluation.importers.dataset_writer import DatasetWriter, ImportCounts

__all__ = ["FORMS", "import_dataset"]

_COMPLETE = {"hotpotqa": hotpotqa.read, "2wiki": twowiki.read, "musique": musique.read}
FORMS = (*_COMPLETE, "strategyqa", "flashrag")


def import_dataset(form: str, files: Sequence[Path], folder: Path, passages: Path | None = None) -> ImportCounts:
    """Reads files of one form into one folder; `passages` is the file of passages for forms that have them apart.

    Returns the counts. Raises `InvalidInput`, naming file and place; then nothing is written.
    """
    if form not in FORMS:
        raise InvalidInput(f"there is no form {form!r}; there are: {', '.join(FORMS)}")
    if form in _COMPLETE and passages is not None:
        raise InvalidInput(f"files of the form {form!r} hold their passages; leave out --passages")
    if form == "strategyqa" and passages is None:
        raise InvalidInput("StrategyQA has its paragraphs in a separate file: name it with --passages")
    with DatasetWriter(folder) as writer:
        ids = strategyqa.read_passages(passages, writer) if form == "strategyqa" and passages else {}
        if form == "flashrag" and passages:
            flashrag.read_passages(passages, writer)
        for file in files:
            if form == "strategyqa":
                strategyqa.read(file, writer, ids)
            elif form == "flashrag":
                flashrag.read(file, writer)
            else:
                _COMPLETE[form](file, writer)
        if not writer.counts.questions:
            raise InvalidInput(f"{', '.join(map(str, files))}: there is no question to import")
        return writer.counts
