"""Types of entities, from their names and from facts about them. English, German and French first.

A type is derived when it is read, so nothing of it is stored. An entity without a sure sign has no type.
"""

from core.text.entity_types.kinds import EntityType
from core.text.entity_types.names import FactEnd, choose_type, find_called_kind, find_type_of_fact, find_type_of_name

__all__ = ["EntityType", "FactEnd", "choose_type", "find_called_kind", "find_type_of_fact", "find_type_of_name"]
