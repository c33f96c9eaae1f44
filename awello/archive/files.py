"""Read the files to import into the archive, export games to files, and restore imported files."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from awello.archive.archive import Archive
from awello.archive.importer import ImportSource
from awello.archive.schema import source_games, sources
from awello.errors import ConfigError, NotationError, join_choices
from awello.formats.registry import FORMATS, Format, decompress, detect_format, find_format, read_games
from awello.formats.wthor import GAME_STRUCT, HEADER_STRUCT, WthorNames, parse_header, parse_names, write_wthor

NAMES_SUFFIXES = (".jou", ".trn")  # extensions of the WTHOR files that contain player or event names
GAME_MARKERS = {"ggf": b"(;", "ogn": b"[South "}  # bytes found once per game; other text formats: one line per game


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the given files, and all game files in the given folders and their subfolders."""
    files = []
    for path in paths:
        if path.is_dir():
            suffixes = (*(suffix for format in FORMATS.values() for suffix in format.suffixes), *NAMES_SUFFIXES)
            inside = sorted(file for file in path.rglob("*") if file.is_file())
            games = [file for file in inside if file.name.lower().removesuffix(".gz").endswith(suffixes)]
            if not games:
                types = join_choices(suffixes)
                raise ConfigError(f"no game files in {str(path)!r}: give a folder with {types} files")
            files += games
        elif path.is_file():
            files.append(path)
        else:
            raise ConfigError(f"there is no file {str(path)!r}: check the path")
    return files


def read_sources(files: Iterable[Path]) -> Iterator[ImportSource]:
    """Yield the files to import; the names in WTHOR games come from `.jou` and `.trn` files in the same folder."""
    for file in files:
        content = file.read_bytes()
        yield read_source(file.name, content, _read_names_in_folder(file.parent))


def read_source(name: str, content: bytes, names: Sequence[WthorNames] = ()) -> ImportSource:
    """Describe a file to import, given its name and content; `names` are the player and event names for WTHOR games."""
    digest = blake2b(content, digest_size=16).digest()
    if name.lower().endswith(NAMES_SUFFIXES):
        return ImportSource(name, "names", digest, content, ())
    inside, _ = decompress(content)
    try:
        format = detect_format(inside, name).name
    except NotationError:
        format = "unknown"
    header, estimated_games = b"", inside.count(GAME_MARKERS.get(format, b"\n"))
    if format == "wthor":
        header, estimated_games = inside[: HEADER_STRUCT.size], len(inside) // GAME_STRUCT.size
    return ImportSource(name, format, digest, header, read_games(content, name, names), len(content), estimated_games)


@cache
def _read_names_in_folder(folder: Path) -> tuple[WthorNames, ...]:
    """Read the player and event names for WTHOR games from the `.jou` and `.trn` files in a folder."""
    files = [file for file in sorted(folder.iterdir()) if file.name.lower().endswith(NAMES_SUFFIXES)]
    return tuple(parse_names(file.read_bytes()) for file in files)


def list_imported_files(archive: Archive) -> list[Any]:
    """List the imported files in the order of import, as rows of `name`, `format` and `games` (number of games)."""
    joined = sources.outerjoin(source_games, source_games.c.source == sources.c.id)
    count = func.count(source_games.c.number).label("games")
    query = select(sources.c.id, sources.c.name, sources.c.format, count).select_from(joined)
    with archive.engine.connect() as connection:
        grouped = query.group_by(sources.c.id, sources.c.name, sources.c.format).order_by(sources.c.id)
        return list(connection.execute(grouped))


def restore_file(archive: Archive, name: str) -> tuple[int, dict[str, bytes]]:
    """Restore an imported file; return the number of its games, and the contents of the restored files by extension.

    A restored WTHOR file is identical to the original.  Files of other formats are rewritten from the stored games.
    """
    with archive.engine.connect() as connection:
        query = select(sources).where(sources.c.name == name).order_by(sources.c.id.desc())
        source = connection.execute(query).first()
        if source is None:
            raise ConfigError(f"no file {name!r} was imported: 'awello games files' lists the imported files")
        listed = select(source_games.c.game).where(source_games.c.source == source.id).order_by(source_games.c.number)
        numbers = list(connection.execute(listed).scalars())
    if source.format == "names":
        return 0, {".names": bytes(source.header)}
    if source.format == "wthor":
        return len(numbers), {".wtb": b"".join(write_wthor(archive.load_records(numbers), parse_header(source.header)))}
    return len(numbers), find_format(source.format).write(archive.load_records(numbers))


def choose_format(out: Path, name: str | None = None) -> Format:
    """Return the format with the given name or, without a name, the format that belongs to the extension of `out`."""
    formats_by_suffix = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}
    format = find_format(name) if name else formats_by_suffix.get(out.suffix.lower())
    if format is None and str(out) == "-":
        raise ConfigError("standard output has no file extension: give --format")
    if format is None:
        raise ConfigError(
            f"{out.name!r} has no known extension: use {join_choices(formats_by_suffix)}, or give --format"
        )
    return format


def write_games(archive: Archive, numbers: Sequence[int], format: Format) -> dict[str, bytes]:
    """Return the contents of the files to write, by extension.

    Raises `NotationError` with the number of the first game that the format cannot represent.
    """
    try:
        return format.write(archive.load_records(numbers))
    except NotationError as error:
        for number, record in zip(numbers, archive.load_records(numbers), strict=True):
            try:
                format.write([record])
            except NotationError as wrong:
                raise NotationError(f"game {number}: {wrong}", "not_exportable") from None
        raise NotationError(str(error), "not_exportable") from None


def write_files(contents: dict[str, bytes], out: Path) -> list[Path]:
    """Write the first content to `out`, and the others next to it with their own extensions; return the files."""
    files = [out if number == 0 else out.with_suffix(suffix) for number, suffix in enumerate(contents)]
    for file, content in zip(files, contents.values(), strict=True):
        file.write_bytes(content)
    return files
