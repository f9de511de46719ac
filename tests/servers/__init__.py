"""Real servers without containers: installed from packages, started, stopped and killed on loopback."""
