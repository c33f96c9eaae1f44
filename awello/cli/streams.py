"""Ensure that standard streams are open and can encode every character."""

import codecs
import os
import sys
import unicodedata
from io import TextIOWrapper

ERROR_HANDLER = "awello_ascii"
ASCII_LOOKALIKES = {
    **dict.fromkeys("─━═╌┄┈╴╶╸╺", "-"),
    **dict.fromkeys("│┃║╎┆┊╵╷╹╻", "|"),
    **{"█": "#", "▄": "=", "▀": "=", "▒": ":", "░": "."},
    **{"±": "+/-", "≥": ">=", "≤": "<=", "∞": "inf", "✓": "+", "✗": "x", "×": "x", "·": "."},
    **{"–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "•": "*"},
}


def prepare_streams() -> None:
    """Redirect closed streams to the null device; in output, replace unencodable characters with similar ASCII ones."""
    codecs.register_error(ERROR_HANDLER, _replace)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=ERROR_HANDLER)


def to_ascii(text: str) -> str:
    """Replace each character with similar ASCII characters, or with `?` if there are none."""
    return "".join(map(_to_ascii, text))


def _to_ascii(character: str) -> str:
    if character in ASCII_LOOKALIKES:
        return ASCII_LOOKALIKES[character]
    if 0x2500 <= ord(character) <= 0x257F:  # box-drawing corners and crossings
        return "+"
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode("ascii") or "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return to_ascii(error.object[error.start : error.end]), error.end


def discard_unwritten() -> None:
    """Discard output that cannot be written, so that Python reports no error at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
