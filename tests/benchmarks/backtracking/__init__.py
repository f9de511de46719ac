"""What going back mends: questions whose first hop has a plausible wrong answer, with and without it."""
