"""Two ways to do the same on a page: with a mouse, and by keyboard alone; and files that are dropped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

__all__ = ["Hands", "Keyboard", "Mouse", "drop"]

_MOST_TABS = 250
_HAS_FOCUS = "one => one === document.activeElement || one.contains(document.activeElement)"


def drop(page: Page, files: dict[str, bytes]) -> None:
    """Drops files on the view, as a hand does."""
    carried = page.evaluate_handle(
        """files => {
            const carried = new DataTransfer();
            const add = (name, bytes) => carried.items.add(new File([new Uint8Array(bytes)], name));
            for (const [name, bytes] of Object.entries(files)) add(name, bytes);
            return carried;
        }""",
        {name: list(content) for name, content in files.items()},
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event(".drop-area", event, {"dataTransfer": carried})


class Hands(Protocol):
    """What a reader does. Each act waits until the part of the page is there."""

    def press(self, target: Locator) -> None:
        """Activates a button or a link, and checks or unchecks a box."""
        ...

    def write(self, target: Locator, text: str) -> None:
        """Replaces the text of a field."""
        ...

    def choose_files(self, button: Locator, paths: Sequence[Path]) -> None:
        """Gives files, or one folder, to the page: a mouse drops them on it, a keyboard uses the button."""
        ...


class Mouse:
    """Clicks, and drops files."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def press(self, target: Locator) -> None:
        target.click()

    def write(self, target: Locator, text: str) -> None:
        target.click()
        target.fill(text)

    def choose_files(self, button: Locator, paths: Sequence[Path]) -> None:
        """Drops them on the button's surroundings, as from a file manager."""
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box is not None
        protocol = self._page.context.new_cdp_session(self._page)
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, "x": box["x"] + box["width"] / 2, "y": box["y"] - 10, "data": data}
            protocol.send("Input.dispatchDragEvent", event)
        protocol.detach()


class Keyboard:
    """Goes to each part of the page by Tab, in the page's order, and fails where it cannot be reached."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def reach(self, target: Locator) -> None:
        expect(target).to_be_visible()
        for _ in range(_MOST_TABS):
            if target.evaluate(_HAS_FOCUS):
                return
            self._page.keyboard.press("Tab")
        raise AssertionError(f"{target} cannot be reached by Tab")

    def press(self, target: Locator) -> None:
        self.reach(target)
        is_box = target.evaluate("one => one.matches('input[type=checkbox]')")
        self._page.keyboard.press("Space" if is_box else "Enter")

    def write(self, target: Locator, text: str) -> None:
        self.reach(target)
        self._page.keyboard.press("Control+A")
        self._page.keyboard.press("Delete")
        self._page.keyboard.type(text)

    def choose_files(self, button: Locator, paths: Sequence[Path]) -> None:
        with self._page.expect_file_chooser() as chosen:
            self.press(button)
        chosen.value.set_files(list(paths))
