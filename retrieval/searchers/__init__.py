"""The searchers, one module each, with the name that settings, the command line and the API use."""
