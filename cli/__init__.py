"""The command line of Hopweave. Commands import heavy libraries only when they run."""
