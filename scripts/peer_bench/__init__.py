"""Benchmark of streaming clients against a server of known timing: Armgate's beside those in common use."""
