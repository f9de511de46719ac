"""The vocabulary of Hopweave: values, ports, errors, settings, and the loading of strategies.

It imports no sibling package. All of `core.*` is public to the other packages.
"""
