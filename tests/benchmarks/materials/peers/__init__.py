"""What users would pick instead of Hopweave, over the same passages and with the same embedding model.

Each peer is a program in a virtual environment of its own. `exchange` defines the files that a peer reads and writes;
`running` calls it; `environments` installs it.
"""
