"""Detect a game or position in pasted text, in any common format and with other text around it.

Games in GGF and OGN are detected first.  Otherwise the text is searched for a position: an Awalé diagram, a board on
one line (as in OBF files) or a board drawn in rows; the text after it is read as moves.  If there is no position, the
text is read as a game from the start position.  To read moves, the whole text is tried as a transcript, then all
words that can be moves, then a part of these words, such as the first line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, dropwhile, groupby

from awello.errors import AwelloError, NotationError
from awello.formats.ggf import parse_ggf
from awello.formats.ogn import parse_ogn
from awello.formats.transcript import MOVES_ADVICE, play_names, split_transcript
from awello.position import Position, parse_position
from awello.record import Record
from awello.rules.game import DEFAULT_BY_FAMILY, GAMES_BY_SIZE, PASS, Game
from awello.rules.othello import DISC_LETTERS

MAX_TEXT_CHARS = 1 << 16
PASTE_HINT = "paste a board, a diagram, or moves such as f5d6c3 or FfBe"
MIN_BOARD_LETTERS, MIN_BOARD_ROWS = 12, 3  # fewer adjacent letters or rows are not taken for a board

WORD_PATTERN = re.compile(r"[^\W_]+|(?<!-)--(?!-)")
OTHELLO_MOVE_PATTERN = re.compile(r"[a-h][1-8]|--|pass|pa|ps", re.I | re.A)
OTHELLO_JOINED_MOVES_PATTERN = re.compile(rf"[0-9]*(?:{OTHELLO_MOVE_PATTERN.pattern})+", re.I | re.A)
SQUARES_PATTERN = re.compile(r"(?:[a-h][1-8])+", re.I | re.A)
AWALE_JOINED_MOVES_PATTERN = re.compile(r"[0-9]*[A-F]?(?:[a-f][A-F])*[a-f]?")
MOVE_PATTERNS = {"othello": OTHELLO_MOVE_PATTERN, "awale": re.compile("[A-Fa-f]")}
JOINED_MOVES_PATTERNS = {"othello": OTHELLO_JOINED_MOVES_PATTERN, "awale": AWALE_JOINED_MOVES_PATTERN}
PIT_HEADINGS = ("ABCDEF", "fedcba")  # the pit names around a drawn board

GGF_PATTERN = re.compile(r"\(;\s*[A-Z]{2}\[")
OGN_PATTERN = re.compile(r'^[ \t]*\[(?:Variant|South|North)[ \t]+"', re.M)
DIAGRAM_PATTERN = re.compile(r"\b[0-9]{1,3}(?:-[0-9]{1,3}){5,}(?:-[A-Za-z]\b)?")
BOARD_SQUARE_COUNTS = {size * size for size in GAMES_BY_SIZE}
SIDE_TO_MOVE_PATTERN = re.compile(r"\b(black|white|south|north|[xobw])\s+to\s+(?:move|play)\b", re.I | re.A)
SECOND_SIDE_NAMES = ("white", "o", "w", "north")
CAPTURED_SEEDS_PATTERN = re.compile(r"\bSouth\s+([0-9]{1,2})\W{1,3}North\s+([0-9]{1,2})\b", re.I | re.A)
DECORATION_TO_SPACES = str.maketrans(dict.fromkeys("|()[]{}'\"`,", " ") | {";": " ; "})

MOVE_LIST_FORMATS = {"othello": "transcript", "awale": "moves"}  # the format of a text with only moves

FoundPosition = tuple[str, Position, str]  # format, position, text after it


@dataclass(frozen=True)
class DetectedGame:
    """A game or position detected in a text, and the format of the text."""

    format: str
    """`transcript` for Othello's moves, `moves` for Awalé's moves, or `ggf`, `ogn`, `obf`, `board` or `diagram`."""
    record: Record


def detect_game(text: str, game: Game | None = None) -> DetectedGame:
    """Detect the game or position in a text, or raise a `NotationError` that names the most likely mistake.

    Without `game`, the text determines the rules: Othello on a board of the size that fits the text, or the variant of
    Awalé that an OGN tag or a board drawn by Awello names (default: abapa).
    """
    if len(text) > MAX_TEXT_CHARS:
        message = f"the text has {len(text)} characters: paste one game of at most {MAX_TEXT_CHARS} characters"
        raise NotationError(message, "text_too_long", length=len(text), limit=MAX_TEXT_CHARS)
    try:
        return _detect_file(text, game) or _detect_position(text, game) or _detect_moves(text, game)
    except AwelloError as error:
        raise NotationError(str(error), error.code, **error.params) from None


def _detect_file(text: str, game: Game | None) -> DetectedGame | None:
    """Parse the first game of a text in GGF or OGN; return None for other texts."""
    format = "ggf" if GGF_PATTERN.search(text) else "ogn" if OGN_PATTERN.search(text) else None
    if format is None:
        return None
    record = parse_ggf(text) if format == "ggf" else parse_ogn(text)
    if game not in (None, record.start.game):
        message = f"this is a game of {record.start.game}, not of {game}: choose {record.start.game}"
        raise NotationError(message, "other_game", found=str(record.start.game), chosen=str(game))
    return DetectedGame(format, record)


# ---- positions ------------------------------------------------------------------------------------------------------
def _detect_position(text: str, game: Game | None) -> DetectedGame | None:
    """Detect the first position in the text and the moves after it."""
    found = (
        _find_diagram(text, game)
        or _find_drawn_pits(text, game)
        or _find_board_rows(text, game)
        or _find_board_line(text, game)
    )
    if found is None:
        return None
    format, start, rest = found
    if format == "obf":
        return DetectedGame(format, Record(start))
    names, other_words = _extract_names(rest, start.game)
    played = len(names) >= other_words and _play_text(rest, [start])
    return DetectedGame(format, _require_legal(played) if played else Record(start))


def _find_diagram(text: str, game: Game | None) -> FoundPosition | None:
    """Find a diagram such as `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`."""
    if not (match := DIAGRAM_PATTERN.search(text)):
        return None
    return "diagram", _parse_awale_diagram(match[0], text, game), text[match.end() :]


def _find_drawn_pits(text: str, game: Game | None) -> FoundPosition | None:
    """Find a drawn board of Awalé: two rows of six numbers, and a line with the captured seeds."""
    if not (captured := CAPTURED_SEEDS_PATTERN.search(text)):
        return None
    rows, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        words = line.translate(DECORATION_TO_SPACES).split()
        if len(words) == 6 and all(re.fullmatch("[0-9]{1,2}", word) for word in words):
            rows.append(words)
        if len(rows) == 2:
            north, south = rows
            diagram = "-".join([*south, *north[::-1], captured[1], captured[2], "SN"[_find_side_to_move(text) or 0]])
            return "diagram", _parse_awale_diagram(diagram, text, game), "\n".join(lines[at + 1 :])
    return None


def _parse_awale_diagram(diagram: str, text: str, game: Game | None) -> Position:
    """Parse a diagram; without `game`, the variant is abapa, unless the text contains a name such as `Game.ROMEIN`."""
    if game is None:
        named = re.search(r"\bGame\.(ABAPA|TOURNAMENT|ROMEIN)\b", text)
        game = Game[named[1]] if named else Game.ABAPA
    _check_family(game, Game.ABAPA)
    return parse_position(diagram, game)


def _check_family(game: Game | None, found_game: Game, found: str = "position") -> None:
    """Raise `NotationError` if the chosen rules and the detected ones belong to different families."""
    if game is not None and game.family != found_game.family:
        titles = found_game.adapter.title, game.adapter.title
        message = "this is a {} of {}, not of {}: choose the other game".format(found, *titles)
        raise NotationError(message, "other_game", found=str(found_game), chosen=str(game))


def _find_board_rows(text: str, game: Game | None) -> FoundPosition | None:
    """Find a board drawn in rows, with or without coordinates; `+` may mark legal moves."""
    rows: list[str] = []
    lines, end = text.splitlines(), 0
    for at, line in enumerate([*lines, "the end"]):
        row = "".join(line.translate(DECORATION_TO_SPACES).split()).strip("12345678").replace("+", "-")
        is_row = len(row) in GAMES_BY_SIZE and DISC_LETTERS.keys() >= set(row)
        if is_row and (not rows or len(row) == len(rows[0])):
            rows.append(row)
            end = at + 1
        elif not set(line) <= set(" |+-=_"):
            if len(rows) >= MIN_BOARD_ROWS and _has_discs("".join(rows)):
                return _parse_drawn_board(rows, text, "\n".join(lines[end:]), game)
            rows = [row] if is_row else []
    return None


def _parse_drawn_board(rows: list[str], text: str, rest: str, game: Game | None) -> FoundPosition:
    """Parse drawn rows, which must form a square."""
    if len(rows) != len(rows[0]):
        raise NotationError(f"the board has {len(rows)} rows of {len(rows[0])} squares: give 8x8, 6x6 or 4x4 squares")
    return "board", _parse_board("".join(rows), _find_side_to_move(text, rest), game), rest


def _find_board_line(text: str, game: Game | None) -> FoundPosition | None:
    """Find a board on one line, possibly split by spaces into groups, with or without the side to move."""
    lines = text.splitlines()
    longest_run = 0
    for at, line in enumerate(lines):
        words, words_before = line.partition("%")[0].translate(DECORATION_TO_SPACES).split(), 0
        for discs, group in groupby(words, lambda word: DISC_LETTERS.keys() >= set(word)):
            run = list(group)
            if discs and (size := _find_board_size(run)):
                letters, rest = "".join(run), "\n".join([" ".join(words[words_before + len(run) :]), *lines[at + 1 :]])
                format = "obf" if rest.startswith(";") else "board"
                side = _find_side_to_move(text, letters[size : size + 1] or rest)
                return format, _parse_board(letters[:size], side, game), rest
            words_before += len(run)
            longest_run = max(longest_run, *map(len, run)) if discs and _has_discs("".join(run)) else longest_run
    if longest_run >= MIN_BOARD_LETTERS:
        raise NotationError(f"the board has {longest_run} squares: give 64, 36 or 16 squares, each X, O or -")
    return None


def _find_board_size(run: list[str]) -> int:
    """Return the number of squares of the board with which the words begin; 0 if there is none."""
    letters, ends = "".join(run), set(accumulate(map(len, run)))
    whole = (size for size in BOARD_SQUARE_COUNTS if size in ends or (size + 1 in ends and DISC_LETTERS[letters[size]]))
    return max((size for size in whole if _has_discs(letters[:size])), default=0)


def _has_discs(letters: str) -> bool:
    return any(DISC_LETTERS[letter] for letter in letters)


def _find_side_to_move(text: str, rest: str = "") -> int | None:
    """Return the side to move, or None if the text does not name it.

    The first word of `rest` can be the side, such as `X`; otherwise `text` can contain words such as `Black to move`.
    """
    side = DISC_LETTERS.get("".join(rest.split(maxsplit=1)[:1]), 0)
    if side:
        return side - 1
    match = SIDE_TO_MOVE_PATTERN.search(text)
    return int(match[1].lower() in SECOND_SIDE_NAMES) if match else None


def _parse_board(letters: str, side: int | None, game: Game | None) -> Position:
    """Parse a board; if `side` is None, derive the side to move from the number of discs and the legal moves."""
    _check_family(game, Game.OTHELLO)
    positions = [parse_position(f"{letters} {mover}", game) for mover in "XO"]
    if side is None:
        side = sum(positions[0].counts()) % 2
        side = 1 - side if positions[side].legal_moves() == (PASS,) else side
    return positions[side]


# ---- games ----------------------------------------------------------------------------------------------------------
def _detect_moves(text: str, game: Game | None) -> DetectedGame:
    """Detect a game from the start position."""
    games = [_guess_game(text)] if game is None else [game]
    if game is None and games == [Game.OTHELLO]:
        games += [Game.OTHELLO4, Game.OTHELLO6]
    if games[0].family == "othello":  # not for Awalé: its moves are letters, which also begin other words
        _check_typos(text)
    played = _play_text(text, [Position.start(game) for game in games])
    if played is None:
        other = _guess_game(text)
        if (found := _play_text(text, [Position.start(other)])) and found[1] is None:
            _check_family(game, other, "game")
        raise NotationError(f"the text contains no game and no position: {PASTE_HINT}", "no_game_in_text")
    return DetectedGame(MOVE_LIST_FORMATS[games[0].family], _require_legal(played))


def _guess_game(text: str) -> Game:
    """Guess whether the moves in a text are those of Othello or of Awalé.

    If the whole text is a transcript of either, returns that one.  Otherwise returns Awalé if the text contains more
    possible moves of Awalé than of Othello, and at least as many as other words; else Othello.
    """
    for game in DEFAULT_BY_FAMILY.values():
        names, rest = split_transcript(text, game)
        if names and not rest:
            return game
    moves, (pits, other_words) = _extract_names(text, Game.OTHELLO)[0], _extract_names(text, Game.ABAPA)
    return Game.ABAPA if len(pits) > len(moves) and len(pits) >= other_words else Game.OTHELLO


def _check_typos(text: str) -> None:
    """Raise `NotationError` if most moves are in words that continue with other text, such as `f5d6x9`."""
    words = [word for word in WORD_PATTERN.findall(text) if not OTHELLO_JOINED_MOVES_PATTERN.fullmatch(word)]
    typos = [(match[0], word[match.end() :]) for word in words if (match := SQUARES_PATTERN.match(word))]
    if sum(len(moves) for moves, _ in typos) > 2 * len(_extract_names(text, Game.OTHELLO)[0]):
        moves, wrong = typos[0]
        message = f"{wrong[:8]!r} after {moves[-8:]} is not a move: {MOVES_ADVICE}"
        raise NotationError(message, "unreadable_moves", before=moves[-8:], text=wrong[:8])


PlayedGame = tuple[Record, AwelloError | None]


def _require_legal(played: PlayedGame) -> Record:
    """Return the record of a played game; raise the error of the first illegal move, if any."""
    record, error = played
    if error:
        raise error
    return record


def _play_text(text: str, starts: list[Position]) -> PlayedGame | None:
    """Play the moves in a text from each start, trying each way to read the text.

    Returns the first game without an illegal move, or else the game with the most moves before an illegal one, and the
    error of this illegal move.  Returns None if the text contains no moves.
    """
    furthest: PlayedGame | None = None
    for names in _generate_readings(text, starts):
        for start in starts:
            played = record, error = play_names(names, start)
            if error is None:
                return played
            if furthest is None or len(record.moves) > len(furthest[0].moves):
                furthest = played
    return furthest


def _generate_readings(text: str, starts: list[Position]) -> Iterator[list[str]]:
    """Yield the names of the moves for each way to read the text."""
    game = starts[0].game
    # Step 1. The whole text as a transcript.
    names, rest = split_transcript(text, game)
    if names and not rest:
        yield names
    # Step 2. All words that can be moves.
    if not (all_names := _extract_names(text, game)[0]):
        return
    yield all_names
    # Step 3. The words from the first legal move on, then the longest run of words that can be moves. Such a part must
    # contain more than half of all names found in step 2, because the rest is ignored.
    words = list(_split_words(text, game))
    legal = [_drop_until_legal(words, start) for start in starts]
    runs = [list(run) for moves, run in groupby(words, lambda names: names is not None) if moves]
    for part in (*legal, max(runs, key=lambda run: len(_flatten(run)))):
        if 2 * len(names := _flatten(part)) > len(all_names):
            yield names
    # Step 4. The first of several games, one per line.
    lines = filter(None, (_extract_names(line, game)[0] for line in text.splitlines()))
    first, second = next(lines), next(lines, None)
    if second and any(play_names(second, start)[1] is None for start in starts):
        yield first


def _drop_until_legal(words: list[list[str] | None], start: Position) -> list[list[str] | None]:
    """Drop the words before the first one that begins with a legal move; Othello's moves may be in upper case."""
    legal = set(map(start.format_move, start.legal_moves()))
    return list(dropwhile(lambda names: not names or legal.isdisjoint({names[0], names[0].lower()}), words))


def _extract_names(text: str, game: Game) -> tuple[list[str], int]:
    """Return the names of all possible moves in a text, and the number of other words."""
    words = list(_split_words(text, game))
    return _flatten(words), words.count(None)


def _flatten(words: Iterable[list[str] | None]) -> list[str]:
    return [name for names in words for name in names or ()]


def _split_words(text: str, game: Game) -> Iterator[list[str] | None]:
    """Yield the list of moves in each word: an empty list for a number, None for a word with other text."""
    for line in text.splitlines():
        if "".join(line.split()) in PIT_HEADINGS:
            continue
        for match in WORD_PATTERN.finditer(line):
            move, moves = MOVE_PATTERNS[game.family], JOINED_MOVES_PATTERNS[game.family]
            yield move.findall(match[0]) if match[0].isdecimal() or moves.fullmatch(match[0]) else None
