"""`python -m armgate.client.known_timing`: prints its port and serves until it is ended."""

import sys

from armgate.client.known_timing.server import Server

if __name__ == "__main__":
    server = Server()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.serve()
