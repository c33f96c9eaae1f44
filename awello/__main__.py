"""The `awello` command, which is also `python -m awello`."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line, also while modules are being loaded."""
    try:
        from awello.cli.app import main as run_command

        run_command()
    except KeyboardInterrupt:
        print("awello: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback from what Python still does at exit


if __name__ == "__main__":
    main()
