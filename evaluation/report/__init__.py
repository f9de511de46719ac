"""Reports of an experiment: tables for the terminal and JSON."""
