"""The choice of the composition: the one place that looks at the kind of installation."""

from app.composition.composition import Composition
from core.settings import Settings

__all__ = ["choose_composition"]


def choose_composition(settings: Settings) -> Composition:
    """Returns the composition for the settings. Imports only the chosen composition, and opens nothing."""
    if settings.on_servers:
        from app.composition.servers import ServerComposition

        return ServerComposition(settings)
    from app.composition.embedded import EmbeddedComposition

    return EmbeddedComposition(settings)
