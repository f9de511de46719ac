"""The pages of `docs/` against the code: settings, commands, routes, strategies and versions."""
