"""Full-text search in the data folder, by tantivy."""

from stores.tantivy.index import TantivyTextIndex

__all__ = ["TantivyTextIndex"]
