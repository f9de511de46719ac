"""Who calls, and what that caller may do: keys, their scopes and limits."""
