"""The container of the application: adapters and strategies, each made once and closed together."""

from app.container.container import Container

__all__ = ["Container"]
