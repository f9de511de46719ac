"""What a process that is watched installs: logs, metrics and traces."""
