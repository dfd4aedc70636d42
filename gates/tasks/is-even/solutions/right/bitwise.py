def is_even(n: int) -> bool:
    """Whether the lowest bit is clear."""
    return not n & 1
