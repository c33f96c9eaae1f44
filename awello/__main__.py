"""The `awello` command, also available as `python -m awello`."""

import sys


def main() -> None:
    """Run the `awello` command.

    Ctrl-C prints one line instead of a traceback, even while modules are being imported.
    """
    try:
        from awello.cli.app import main as run_command

        run_command()
    except KeyboardInterrupt:
        print("awello: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback from Ctrl-C during Python's exit


if __name__ == "__main__":
    main()
