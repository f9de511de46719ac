"""Whether the stores answer."""

from collections.abc import Awaitable, Callable

from app.container import Container
from core.errors import Unavailable
from core.ports.views import VectorKind

__all__ = ["unready"]

_NO_CORPUS = "0" * 32  # an unknown corpus is an empty one for every view


async def unready(container: Container) -> dict[str, str]:
    """Each store that cannot be used now, with the reason."""
    checks: dict[str, Callable[[], Awaitable[object]]] = {
        "record": lambda: container.record.corpora.all(),  # noqa: PLW0108 - naming a store opens it, and that may fail
        "vectors": lambda: container.vectors.count(_NO_CORPUS, VectorKind.CHUNK),
        "text": lambda: container.text.count(_NO_CORPUS),
        "files": lambda: container.files.names(_NO_CORPUS),
    }
    down = {}
    for name, check in checks.items():
        try:
            await check()
        except Unavailable as error:
            down[name] = str(error)
    return down
