"""The parts of `auto`: one node of a plan, the plan carried out, and the answer made of it."""
