"""The text index in the data folder, with tantivy."""

from stores.tantivy.index import TantivyTextIndex

__all__ = ["TantivyTextIndex"]
