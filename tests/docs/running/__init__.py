"""Commands of the documentation as tests run them: in a shell on a stage, and on a terminal for pictures."""
