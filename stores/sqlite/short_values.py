"""Ids, hashes and media types as the rows of the record keep them: in fewer bytes than others see."""

__all__ = [
    "from_hex",
    "pack_hash",
    "pack_ids",
    "pack_media_type",
    "unpack_hash",
    "unpack_ids",
    "unpack_media_type",
]

_ID_BYTES = 16

_MEDIA_TYPES = (
    "text/plain",
    "text/markdown",
    "text/html",
    "application/pdf",
    "application/vnd.hopweave.document+json",
)
"""Those that rows have by their place here. Rows of every data folder do, so new ones are added at the end only."""
_PLACES = {name: place for place, name in enumerate(_MEDIA_TYPES)}


def from_hex(id: str) -> bytes | None:
    """Returns the bytes of an id; None for what is none, also where its digits are capitals."""
    try:
        packed = bytes.fromhex(id)
    except ValueError:
        return None
    return packed if packed.hex() == id else None


def pack_hash(value: str) -> str | bytes:
    """Returns the bytes of a hash in hexadecimal digits; any other value as it is."""
    packed = from_hex(value)
    return value if packed is None else packed


def unpack_hash(packed: str | bytes) -> str:
    return packed if isinstance(packed, str) else packed.hex()


def pack_ids(joined: str) -> bytes:
    """Returns the bytes of ids that are joined by spaces, without the spaces."""
    return bytes.fromhex(joined)


def unpack_ids(packed: bytes) -> str:
    return packed.hex(" ", _ID_BYTES) if packed else ""


def pack_media_type(name: str) -> str | int:
    """Returns the number of a media type that most documents have; any other as it is."""
    return _PLACES.get(name, name)


def unpack_media_type(packed: str | int) -> str:
    return packed if isinstance(packed, str) else _MEDIA_TYPES[packed]
