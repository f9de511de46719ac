"""The command line: a module per group of commands. Heavy libraries are imported inside the commands."""
