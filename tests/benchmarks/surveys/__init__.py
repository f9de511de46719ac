"""How well the reasoner `survey` counts and lists, over contracts and over made documents, and how fast it is."""
