"""Actions: the typed calls of language models. Each module has one, with its prompt beside it and its response model.

Reasoners share them. The name of an action is that of its prompt: usage is counted and models are chosen under it.
"""
