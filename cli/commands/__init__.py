"""The commands of `hopweave`, a module for each command or group of commands."""
