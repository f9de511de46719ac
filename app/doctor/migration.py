"""Migration of the record's schema to that of this release."""

from app.composition import Schema, SchemaState, choose_composition
from app.container import Container
from core.settings import Settings

__all__ = ["Schema", "SchemaState", "examine", "migrate"]


async def examine(settings: Settings) -> Schema:
    """Reads the schema and writes nothing. Raises `Unavailable`, or `InvalidSettings` if the record is not ours."""
    return await choose_composition(settings).read_schema()


async def migrate(settings: Settings) -> Schema:
    """Migrates the record to the schema of this release. A record that has it already stays as it is.

    Raises `Unavailable`, or `InvalidSettings` if this release cannot read the record.
    """
    container = Container(settings)
    try:
        await container.record.check()
    finally:
        await container.close()
    return await examine(settings)
