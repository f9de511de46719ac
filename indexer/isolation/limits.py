"""The limits of a parser process. `HOPWEAVE_PARSER__…` sets them."""

from dataclasses import dataclass

__all__ = ["MEGABYTE", "ParserLimits"]

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ParserLimits:
    """`memory` and `output` are in bytes, `seconds` limit the time of one file. `files` are parsed by one process.

    `memory` is the address space beyond that of the process when it starts.
    """

    memory: int = 1024 * MEGABYTE
    seconds: float = 120.0
    output: int = 256 * MEGABYTE
    files: int = 200
