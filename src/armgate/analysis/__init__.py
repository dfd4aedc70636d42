"""Statistics and comparison over verdicts and measurements; pure."""
