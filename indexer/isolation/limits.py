"""The limits of a parser process. `HOPWEAVE_PARSER__…` sets them."""

from dataclasses import dataclass

MEGABYTE = 1024 * 1024

LIBRARY_BYTES = 64 * MEGABYTE
"""Address space for the libraries of all loaders, which are imported when they are first used (measured: 41 MB)."""


@dataclass(frozen=True, kw_only=True)
class ParserLimits:
    """`memory` and `output` are in bytes, `seconds` limit the time of one file. `files` are parsed by one process.
    `seconds_setting` and `memory_setting` are named where time or memory is over.

    The address space may grow by `memory` and `LIBRARY_BYTES` after the process has started. A process that keeps more
    than the share `kept` of `memory` between two files is replaced.
    """

    memory: int = 1024 * MEGABYTE
    seconds: float = 120.0
    output: int = 256 * MEGABYTE
    files: int = 200
    kept: float = 0.25
    seconds_setting: str = "HOPWEAVE_PARSER__SECONDS"
    memory_setting: str = "HOPWEAVE_PARSER__MEMORY_MB"
