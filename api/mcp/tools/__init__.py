"""The tools, a module each: arguments, result and work. None of them imports the SDK."""
