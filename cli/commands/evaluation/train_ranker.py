"""`hopweave train-ranker`: trains a ranker for the searcher `bridged` on questions with known supporting passages."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app.composition import choose_composition
from app.container import Container
from cli.output.progress import stages
from core.errors import InvalidInput
from core.execution.files import Draft
from core.settings import Settings, read_settings
from evaluation import (
    Dataset,
    ReportProgress,
    Training,
    TrainingSet,
    add_question_hashes,
    build_ranker_table,
    check_training_libraries,
    gather_training_set,
    read_training_datasets,
    train_ranker,
)
from retrieval import warm
from retrieval.bridged.training import RECIPES


def register(app: typer.Typer) -> None:
    """Add the command `train-ranker`."""
    app.command(name="train-ranker")(_train_ranker)


def _train_ranker(
    dataset_dirs: Annotated[
        list[Path], typer.Argument(metavar="DATASET_DIR", help="Folders with corpus.jsonl and questions.jsonl.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file of the ranker.")],
    recipe: Annotated[str, typer.Option(help="full (weights and trees) or six (six weights).")] = "full",
    extractor: Annotated[str, typer.Option(help="The extractor: pattern, given, pattern+given.")] = "pattern",
    chunker: Annotated[str, typer.Option(help="The chunker.")] = "passage",
    folds: Annotated[int, typer.Option(min=2, max=20, help="The number of cross-validation folds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the folds and the trees.")] = 0,
    licence: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="An attribution to write into the file; repeatable.")
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Search this corpus, whose documents' keys are the ids in `supporting`."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write the ranker even if it gains nothing.")] = False,
    add_hashes: Annotated[
        bool,
        typer.Option(
            "--add-hashes",
            help="Train nothing: add the hashes of the questions to the file -o, a ranker trained on these folders.",
        ),
    ] = False,
) -> None:
    """Train a ranker, evaluate it by cross-validation, and write it if it beats stage 1.

    Use it as `--searcher bridged:ranker=FILE`.
    """
    if add_hashes:
        _add_hashes(output, dataset_dirs)
        return
    if recipe not in RECIPES:
        raise InvalidInput(f"there is no recipe {recipe!r}; there are: {', '.join(RECIPES)}")
    training = Training(
        recipe=recipe,
        extractor=extractor,
        chunker=chunker,
        folds=folds,
        seed=seed,
        licences=tuple(licence or ()),
        corpus=corpus,
        force=force,
    )
    check_training_libraries(training.fitted)
    datasets = read_training_datasets(dataset_dirs, needs_corpus=corpus is None)
    _check_output(output)
    settings = read_settings()
    with stages() as progress:
        sets, model = asyncio.run(_gather(settings, datasets, training, progress))
        trained = train_ranker(sets, training, embedding_model=model, progress=progress)
    Console().print(build_ranker_table(trained))
    if not trained.gains:
        _report_no_gain(trained.difference.mean, output, force=force)
    _write(output, trained.file)
    typer.echo(f"{output}: use it with --searcher bridged:ranker={output}", err=True)


def _add_hashes(ranker: Path, dataset_dirs: Sequence[Path]) -> None:
    """Rewrites the file of a ranker, whose weights stay."""
    try:
        text = ranker.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"-o {ranker} cannot be read ({error}); --add-hashes needs the file of a ranker") from error
    _write(ranker, add_question_hashes(text, read_training_datasets(dataset_dirs)))
    typer.echo(f"{ranker}: its questions can be recognised now, and its weights are the same", err=True)


async def _gather(
    settings: Settings, datasets: Sequence[Dataset], training: Training, progress: ReportProgress
) -> tuple[list[TrainingSet], str]:
    """Indexes and searches the training sets. The worker runs only during this, not while weights are fitted."""
    container = Container(settings)
    await asyncio.to_thread(warm)
    try:
        with choose_composition(settings).supervise() as supervision:
            sets = [
                await gather_training_set(
                    container,
                    supervision,
                    dataset,
                    features=training.fitted.features,
                    extractor=training.extractor,
                    chunker=training.chunker,
                    corpus_name=training.corpus,
                    progress=progress,
                )
                for dataset in datasets
            ]
        return sets, container.embedder.model
    finally:
        await container.close()


def _report_no_gain(difference: float, output: Path, *, force: bool) -> None:
    said = f"the ranker does not beat stage 1: {100 * difference:+.1f} points of R@5 in cross-validation"
    if not force:
        typer.echo(f"hopweave: {said}; {output} is not written (more questions may help, --force writes it)", err=True)
        raise typer.Exit(1)
    typer.echo(f"{said}; --force writes it nonetheless", err=True)


def _check_output(output: Path) -> None:
    """Checks, before any work, that the file can be written; leaves no file behind."""
    try:
        if output.is_dir():
            raise InvalidInput(f"-o {output} is a folder; name a file")
        output.parent.mkdir(parents=True, exist_ok=True)
        with Draft(output):
            pass
    except OSError as error:
        raise _unwritable(output, error) from error


def _write(output: Path, text: str) -> None:
    """Writes the file, so that it is complete or absent."""
    try:
        with Draft(output) as draft:
            draft.file.write(text.encode())
            draft.keep()
    except OSError as error:
        raise _unwritable(output, error) from error


def _unwritable(output: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"-o {output} cannot be written: {error.strerror}; name another file")
