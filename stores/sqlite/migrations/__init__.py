"""How the record's file of an older release becomes that of this one."""

from stores.sqlite.migrations.steps import STEPS, give_back_space, steps_from

__all__ = ["STEPS", "give_back_space", "steps_from"]
