"""The supported formats of game files, looked up by name, file extension or content.

Text is decoded as UTF-8 or, if that fails, as Latin-1. Compressed files (`.gz`) are decompressed.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from gzip import BadGzipFile, GzipFile
from io import BytesIO

from awello.errors import NotationError, join_choices
from awello.formats.common import ReadResults
from awello.formats.detection import GGF_PATTERN, OGN_PATTERN
from awello.formats.ggf import read_ggf, write_ggf
from awello.formats.jsonl import read_jsonl, write_jsonl
from awello.formats.logbook import read_logbook, write_logbook
from awello.formats.ogn import read_ogn, write_ogn
from awello.formats.transcript_lists import read_transcripts, write_transcripts
from awello.formats.wthor import EVENT_NAME_BYTES, PLAYER_NAME_BYTES, WthorNames, build_wthor, is_wthor, read_wthor
from awello.record import Record

GZIP_MAGIC = b"\x1f\x8b"
MAX_UNPACKED_BYTES = 1 << 26
READ_CHUNK_BYTES = 1 << 16  # bytes decompressed per step
DETECTION_BYTES = 4096  # bytes at the beginning of a file that are used to detect its format


@dataclass(frozen=True)
class Format:
    """A file format: its name and file extensions, and how to read and write it."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes], ReadResults]
    write: Callable[[Iterable[Record]], dict[str, bytes]]
    """Returns the contents of the written files by file extension: one file, or three files for WTHOR."""
    matches: Callable[[bytes], object]
    """Returns a true value if the content of a file identifies this format."""


def _make_text_format(
    name: str,
    suffixes: tuple[str, ...],
    read: Callable[[str], ReadResults],
    write: Callable[[Iterable[Record]], Iterator[str]],
    signature: str,
) -> Format:
    """Define a text format; files in this format match `signature` in their first `DETECTION_BYTES` bytes."""
    pattern = re.compile(signature.encode(), re.M)
    return Format(
        name,
        suffixes,
        lambda content: read(_decode(content)),
        lambda records: {suffixes[0]: _encode(write(records))},
        lambda content: pattern.search(content[:DETECTION_BYTES]),
    )


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _encode(parts: Iterable[str]) -> bytes:
    try:
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        raise NotationError(
            f"{error.object[error.start : error.end]!r} cannot be encoded as UTF-8: remove it from the game's tags"
        ) from None


FORMATS = {
    format.name: format
    for format in (
        Format("wthor", (".wtb",), read_wthor, lambda records: build_wthor(records, date.today()), is_wthor),
        _make_text_format("ggf", (".ggf",), read_ggf, write_ggf, GGF_PATTERN.pattern),
        _make_text_format("ogn", (".ogn",), read_ogn, write_ogn, OGN_PATTERN.pattern),
        _make_text_format("jsonl", (".jsonl",), read_jsonl, write_jsonl, r'\A\{"game": ?"'),
        _make_text_format("logbook", (".gam",), read_logbook, write_logbook, r"^\+[a-h][1-8]-[a-h][1-8]"),
        _make_text_format(
            "transcripts",
            (".txt", ".xot"),
            read_transcripts,
            write_transcripts,
            r"\A(?:#.*\n)*(?:[a-hA-H][1-8]){2}|\A(?:#.*\n)*(?:[0-9]{1,3}-){14}[SN]\b|\A(?:#.*\n)*[A-F][a-f][A-Fa-f]*\s",
        ),
    )
}


def find_format(name: str) -> Format:
    """Look up a format by name, such as `ggf`."""
    if name not in FORMATS:
        raise NotationError(f"unknown format {name!r}: choose {join_choices(FORMATS)}")
    return FORMATS[name]


def detect_format(content: bytes, file_name: str = "") -> Format:
    """Detect a file's format by its content, then its extension; the loose pattern of transcripts is tried last."""
    *strong, weak = FORMATS.values()
    by_suffix = [
        format for format in FORMATS.values() if file_name.lower().removesuffix(".gz").endswith(format.suffixes)
    ]
    candidates = [
        *(format for format in strong if format.matches(content)),
        *by_suffix,
        *([weak] * bool(weak.matches(content))),
    ]
    if not candidates:
        suffixes = join_choices(suffix for format in FORMATS.values() for suffix in format.suffixes)
        raise NotationError(f"expected games in a format such as {suffixes}, found none")
    return candidates[0]


def read_games(content: bytes, file_name: str = "", names: Iterable[WthorNames] = ()) -> ReadResults:
    """Read the games of a file in any format; `names` are the names of players and events for a WTHOR file."""
    content, damage = decompress(content)
    try:
        format = detect_format(content, file_name)
    except NotationError as error:
        yield damage or error
        return
    if format.name == "wthor":
        known = {file.width: file.names for file in names}
        yield from read_wthor(content, known.get(PLAYER_NAME_BYTES, ()), known.get(EVENT_NAME_BYTES, ()))
    else:
        yield from format.read(content)
    if damage:
        yield damage


def decompress(content: bytes) -> tuple[bytes, NotationError | None]:
    """Decompress a file if necessary; return its readable content, and an error if it is damaged or too large."""
    if not content.startswith(GZIP_MAGIC):
        return content, None
    unpacked, damage, compressed = bytearray(), None, BytesIO(content)
    try:
        with GzipFile(fileobj=compressed) as stream:
            while block := stream.read1(min(READ_CHUNK_BYTES, MAX_UNPACKED_BYTES + 1 - len(unpacked))):
                unpacked += block
        if len(unpacked) > MAX_UNPACKED_BYTES:
            damage = NotationError(
                f"expected at most {MAX_UNPACKED_BYTES >> 20} MiB of decompressed data, found more: "
                "decompress the file first"
            )
    except EOFError:
        damage = NotationError(f"byte {len(content)}: expected more compressed data, found the end")
    except (BadGzipFile, zlib.error):
        damage = NotationError(f"byte {compressed.tell()}: expected compressed data, found damaged data")
    return bytes(unpacked), damage
