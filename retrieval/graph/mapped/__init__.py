"""Snapshots of graphs in files of the data folder, which all processes map: their format, their folder, their use."""
