"""Runs `hopweave corpora tree`: tells the cost, and makes the tree while a worker indexes it."""

from typing import TYPE_CHECKING

from cli.flows.jobs import wait_for_job
from cli.output.console import counted, print_status
from cli.output.progress import stages
from cli.runtime import run_with_container
from core.settings import read_settings

if TYPE_CHECKING:
    from app.container import Container
    from app.services.estimates import ModelEstimate
    from app.services.summary_tree import BuiltTree
    from core.jobs import Job


def estimate_cost(name: str) -> None:
    """Prints what the tree of a corpus would cost. Needs no language model."""

    async def work(container: "Container") -> None:
        await _tell_cost(container, name)

    run_with_container(work)


def make(name: str, tree: str) -> "BuiltTree":
    """Makes the tree of a corpus, and returns when it is complete. The cost is printed before."""
    from app.composition import choose_composition
    from app.services.summary_tree import build_tree, check_tree

    settings = read_settings()
    with choose_composition(settings).supervise() as supervision, stages() as progress:

        async def work(container: "Container") -> "BuiltTree":
            async def complete(job: "Job") -> "Job":
                return await wait_for_job(container, supervision, job)

            source = await container.record.corpora.get(name)
            await check_tree(container, source, tree)
            await _tell_cost(container, name)
            return await build_tree(container, source, tree, complete, progress)

        try:
            return run_with_container(work, settings, creates=True)
        except KeyboardInterrupt:
            print_status(
                f"interrupted; the summaries so far are kept, and `hopweave corpora tree {name} {tree}` goes on"
            )
            raise


async def _tell_cost(container: "Container", name: str) -> None:
    from app.services.summary_tree import estimate_tree_of

    source = await container.record.corpora.get(name)
    print_status(f"tree of {name}: {describe_cost(await estimate_tree_of(container, source))}")


def describe_cost(cost: "ModelEstimate") -> str:
    """Returns the calls and tokens of an estimate in words."""
    return (
        f"about {counted(cost.calls, 'call')} of the language model, one a summary, with {cost.prompt_tokens:,} prompt "
        f"and {cost.completion_tokens:,} completion tokens, {cost.seconds:,.0f} s"
    )
