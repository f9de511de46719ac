"""The vector store on a Milvus server."""

from stores.milvus.collections import MilvusIndex
from stores.milvus.vectors import MilvusVectorStore

__all__ = ["MilvusIndex", "MilvusVectorStore"]
