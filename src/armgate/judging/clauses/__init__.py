"""One function per contract clause: what an answer breaches, with the bytes where it does."""
