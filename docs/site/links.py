"""Links from pages to files that are no pages: code leads to the code host, other files of `docs/` to a copy."""

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class CodeLinks(SphinxPostTransform):
    """MyST offers a linked file for download, and finds no folder. Code is read in its repository instead."""

    default_priority = 5

    def run(self, **_kwargs: Any) -> None:
        """Replaces what links to a file or a folder outside of `docs/`, and to any folder."""
        for node in [*self.document.findall(download_reference), *self.document.findall(pending_xref)]:
            target = self._find(node)
            if target is not None and (target.is_dir() or not target.is_relative_to(self._root / "docs")):
                kind = "tree" if target.is_dir() else "blob"
                address = f"{self.config.repository}/{kind}/main/{target.relative_to(self._root).as_posix()}"
                node.replace_self(nodes.reference("", "", *node.children, refuri=address))

    @property
    def _root(self) -> Path:
        return Path(self.env.srcdir)

    def _find(self, node: nodes.Element) -> Path | None:
        """Returns the file or folder of the repository that a link leads to, unless it is a page."""
        target = node.get("reftarget", "").partition("#")[0]
        if node.get("reftype") != "myst" or not target:
            return None
        found = Path(os.path.normpath(Path(self.env.doc2path(self.env.docname)).parent / target))
        is_ours = found.is_relative_to(self._root) and found.exists() and found.suffix != ".md"
        return found if is_ours else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the transform."""
    app.add_config_value("repository", "", "env", str)
    app.add_post_transform(CodeLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
