"""`python -m armgate` and the `armgate` command."""

from armgate.cli.app import main

if __name__ == "__main__":
    main()
