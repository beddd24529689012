"""The command `brokernat`, which is also `python -m brokernat`."""

import sys


def main() -> int:
    """Run the command line of the process; returns the exit code."""
    try:
        from brokernat.cli.app import main as command
    except KeyboardInterrupt:
        # As `exit_codes.INTERRUPTED`, which may not be imported yet.
        return 130
    return command()


if __name__ == "__main__":
    sys.exit(main())
