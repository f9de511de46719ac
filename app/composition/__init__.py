"""The two compositions of an installation: embedded in one data folder, and on servers. Chosen once, from the settings.

Other modules of `app` ask the composition and never which of the two it is.
"""

from app.composition.composition import Check, Composition, Schema, SchemaState, choose_composition

__all__ = ["Check", "Composition", "Schema", "SchemaState", "choose_composition"]
