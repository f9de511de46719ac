"""Reading of images in tests: the points of a PNG, and which of them are highlighted."""

import io

from PIL import Image

__all__ = ["highlighted", "open_png", "points_of"]

_LIGHT, _DARK = (255, 224, 102), (120, 92, 0)


def open_png(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    assert (image.format, image.mode) == ("PNG", "RGB")
    return image


def points_of(image: Image.Image) -> list[tuple[int, int, int]]:
    """Red, green and blue of all points."""
    values = image.tobytes()
    return list(zip(values[::3], values[1::3], values[2::3], strict=True))


def highlighted(content: bytes) -> tuple[float, float, float, float] | None:
    """The box around all highlighted points, as parts of the image: left, top, right, bottom."""
    image = open_png(content)
    points = [n for n, point in enumerate(points_of(image)) if point in (_LIGHT, _DARK)]
    if not points:
        return None
    across, down = [n % image.width for n in points], [n // image.width for n in points]
    return (
        min(across) / image.width,
        min(down) / image.height,
        (max(across) + 1) / image.width,
        (max(down) + 1) / image.height,
    )
