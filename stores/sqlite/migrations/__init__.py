"""Migrations of the record's file from an older release to this release."""

from stores.sqlite.migrations.steps import STEPS, give_back_space, steps_from

__all__ = ["STEPS", "give_back_space", "steps_from"]
