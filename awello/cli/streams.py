"""Standard streams that can always be used: none is closed, and none fails on a character it cannot show."""

import codecs
import os
import sys
import unicodedata
from io import TextIOWrapper

FALLBACK = "awello_ascii"
LOOKALIKES = {
    **dict.fromkeys("─━═╌┄┈╴╶╸╺", "-"),
    **dict.fromkeys("│┃║╎┆┊╵╷╹╻", "|"),
    **{"█": "#", "▄": "=", "▀": "=", "▒": ":", "░": "."},
    **{"±": "+/-", "≥": ">=", "≤": "<=", "∞": "inf", "✓": "+", "✗": "x", "×": "x", "·": "."},
    **{"–": "-", "—": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "•": "*"},
}


def prepare_streams() -> None:
    """Replace closed streams, and let characters that an output's encoding lacks become ASCII ones."""
    codecs.register_error(FALLBACK, _replace)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=FALLBACK)


def to_ascii(text: str) -> str:
    """A text with ASCII characters that look like its own; `?` where there is none."""
    return "".join(map(_to_ascii, text))


def _to_ascii(letter: str) -> str:
    if letter in LOOKALIKES:
        return LOOKALIKES[letter]
    if 0x2500 <= ord(letter) <= 0x257F:  # corners and crossings of frames
        return "+"
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode("ascii") or "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return to_ascii(error.object[error.start : error.end]), error.end


def drop_unwritten() -> None:
    """Forget output that cannot be written any more, so that Python does not complain about it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
