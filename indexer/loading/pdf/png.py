"""PNG files of pixels in red, green and blue."""

import struct
import zlib
from collections.abc import Iterable

__all__ = ["is_png", "write_png"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB_OF_8_BITS = (8, 2, 0, 0, 0)
_NO_FILTER = b"\x00"


def write_png(width: int, height: int, rows: Iterable[bytes | bytearray]) -> bytes:
    """Returns the file. A row has three bytes for each pixel; there are `height` rows, from the top."""
    packer = zlib.compressobj(6)
    packed = [packer.compress(_NO_FILTER + row) for row in rows]
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, *_RGB_OF_8_BITS)),
            _chunk(b"IDAT", b"".join(packed) + packer.flush()),
            _chunk(b"IEND", b""),
        ]
    )


def is_png(content: bytes) -> bool:
    """Returns whether a file begins and ends as PNG files do."""
    return content.startswith(_SIGNATURE) and content.endswith(_chunk(b"IEND", b""))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
