"""The tools: arguments, result and work of each. None of them imports the SDK."""
