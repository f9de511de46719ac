"""The vocabulary of Hopweave: values, ports, errors, settings' shape, and the loading of strategies.

Imports no sibling package. Everything in `core.*` is public to the other packages.
"""
