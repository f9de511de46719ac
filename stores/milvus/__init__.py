"""Vectors on a Milvus server, in collections of their own."""

from stores.milvus.collections import MilvusIndex
from stores.milvus.vectors import MilvusVectorStore

__all__ = ["MilvusIndex", "MilvusVectorStore"]
