"""Contract suites of the ports, for tests of whatever implements one: a store, a searcher, a reasoner, a chunker.

A test class inherits the contract and gives the fixtures that it names. Nothing here is used while serving.
"""
