"""The forms that can be imported, and the import of files into a folder. Add a new form here."""

from collections.abc import Sequence
from pathlib import Path

from core.errors import InvalidInput
from evaluation.importers import beir, flashrag, hotpotqa, musique, selfrag, squad, strategyqa, trec
from evaluation.importers.published_files import DatasetWriter, ImportCounts

_COMPLETE = {
    "hotpotqa": hotpotqa.read,
    "2wiki": hotpotqa.read,  # with evidence triples, which are not used
    "musique": musique.read,
    "squad": squad.read,
    "selfrag": selfrag.read,
}
_JUDGED = ("beir", "trec")
FORMS = (*_COMPLETE, "strategyqa", "flashrag", *_JUDGED)


def import_dataset(
    form: str, files: Sequence[Path], folder: Path, passages: Path | None = None, qrels: Sequence[Path] = ()
) -> ImportCounts:
    """Reads files of one form into one folder; `passages` and `qrels` are the files of passages and of judgements for
    forms that keep them in separate files.

    Returns the counts. Raises `InvalidInput`, naming file and place; then nothing is written.
    """
    _check(form, files, passages, qrels)
    with DatasetWriter(folder) as writer:
        if form == "beir":
            beir.read(files[0], writer, qrels)
        elif form == "trec":
            if passages:
                trec.read_passages(passages, writer)
            trec.read(files, writer, qrels, has_corpus=passages is not None)
        else:
            _read_answered(form, files, passages, writer)
        if not writer.counts.questions:
            left_out = "; ".join(f"{count:,} were left out: {why}" for why, count in writer.counts.left_out.items())
            told = f" ({left_out})" if left_out else ""
            raise InvalidInput(f"{', '.join(map(str, files))}: there is no question to import{told}")
        return writer.counts


def _check(form: str, files: Sequence[Path], passages: Path | None, qrels: Sequence[Path]) -> None:
    """Raises `InvalidInput` for a form that does not exist, or files that do not belong to it."""
    if form not in FORMS:
        raise InvalidInput(f"there is no form {form!r}; there are: {', '.join(FORMS)}")
    if form in (*_COMPLETE, "beir") and passages is not None:
        raise InvalidInput(f"files of the form {form!r} hold their passages; leave out --passages")
    if form == "strategyqa" and passages is None:
        raise InvalidInput("StrategyQA has its paragraphs in a separate file: name it with --passages")
    if form not in _JUDGED and qrels:
        raise InvalidInput(f"files of the form {form!r} have no judgements; leave out --qrels")
    if form == "beir" and len(files) > 1:
        raise InvalidInput("a collection of BEIR is one folder; name further judgements with --qrels")
    if form == "trec" and not qrels:
        raise InvalidInput("TREC has its judgements in a separate file: name it with --qrels")


def _read_answered(form: str, files: Sequence[Path], passages: Path | None, writer: DatasetWriter) -> None:
    """Reads a form whose questions have answers."""
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
