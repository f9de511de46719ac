"""Wrappers of a chat model: cache, budget, limits, output modes, retries."""
