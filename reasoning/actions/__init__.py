"""Actions: the typed calls of language models.

Each is a function with a response model; its prompt is the file of its name. Reasoners share them. The name of an
action is the name of its prompt: usage is counted and models are chosen under it.
"""
