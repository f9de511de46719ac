"""Strategies by name: how they are written (`specs`), their options and presets (`config`), and their modules."""

from core.strategies.config import StrategyConfig, preset_field
from core.strategies.modules import build, describe, list_names, load_module, parse_config
from core.strategies.specs import StrategySpec, parse_spec, split_outside_brackets

__all__ = [
    "StrategyConfig",
    "StrategySpec",
    "build",
    "describe",
    "list_names",
    "load_module",
    "parse_config",
    "parse_spec",
    "preset_field",
    "split_outside_brackets",
]
