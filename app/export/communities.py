"""Detects communities of a graph by the Leiden algorithm, in a process of its own.

igraph holds the GIL while it computes. In the process of a server, a large graph would block all requests.
"""

import asyncio
import random
import sys
from array import array
from collections.abc import Sequence

from core.errors import Unavailable
from core.execution.graph_library import import_igraph
from core.execution.processes import python_command

_SEED = 20260101
_INTS, _FLOATS = "i", "d"


async def find_communities(nodes: int, ends: "array[int]", weights: "array[float]") -> Sequence[int]:
    """Returns the community of each node of an undirected weighted graph. The largest community has number 0.

    Edge n connects `ends[2 * n]` and `ends[2 * n + 1]`. Equal graphs give equal results. Raises `Unavailable` if the
    process fails. Cancelling the call ends the process.
    """
    if not weights:
        return range(nodes)
    child = await asyncio.create_subprocess_exec(
        *python_command("app.export.communities"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    header = array(_INTS, (nodes, len(weights)))
    try:
        output, errors = await child.communicate(b"".join(part.tobytes() for part in (header, ends, weights)))
    finally:
        if child.returncode is None:  # cancelled: nobody waits for the result
            child.kill()
            await child.wait()
    if child.returncode != 0:
        lines = errors.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"its process ended with {child.returncode}; is there too little memory?"
        raise Unavailable(f"the communities of the graph could not be computed: {reason}")
    numbers = array(_INTS)
    numbers.frombytes(output)
    return numbers


def _main() -> None:
    igraph = import_igraph("communities of a graph")
    header, ends, weights = array(_INTS), array(_INTS), array(_FLOATS)
    header.fromfile(sys.stdin.buffer, 2)
    nodes, edges = header
    ends.fromfile(sys.stdin.buffer, 2 * edges)
    weights.fromfile(sys.stdin.buffer, edges)
    igraph.set_random_number_generator(random.Random(_SEED))  # noqa: S311 - a fixed seed is the point
    graph = igraph.Graph(nodes, list(zip(ends[::2], ends[1::2], strict=True)))
    found = graph.community_leiden(objective_function="modularity", weights=weights.tolist(), n_iterations=10)
    sizes = found.sizes()
    order = sorted(range(len(sizes)), key=lambda community: (-sizes[community], community))
    numbers = {community: number for number, community in enumerate(order)}
    array(_INTS, [numbers[community] for community in found.membership]).tofile(sys.stdout.buffer)


if __name__ == "__main__":
    _main()
