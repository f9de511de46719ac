"""`shorten`: a text on one line, cut to a number of characters, for lists and tables."""

_END = " …"


def shorten(text: str, longest: int) -> str:
    """Returns the text with single spaces, cut to `longest` characters with an ellipsis at its end.

    It is cut between words if there is a space in the last quarter, else within a word: Chinese has no spaces.
    """
    flat = " ".join(text.split())
    if len(flat) <= longest:
        return flat
    room = longest - len(_END)
    space = flat.rfind(" ", 3 * room // 4, room + 1)
    return flat[: space if space >= 0 else room] + _END
