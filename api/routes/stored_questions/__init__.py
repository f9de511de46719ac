"""The routes of stored questions."""
