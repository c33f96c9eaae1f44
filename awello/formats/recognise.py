"""Whatever people paste: a game, a board or a diagram in any usual form, with other text round it.

A game in GGF or OGN is read as such.  Else a position is looked for first: an Awalé diagram, a board on one line (as
in OBF files), a board drawn in rows.  What follows it is read as moves.  Without a position the text is a game from
the start.  Its moves are the words that can be moves, whatever stands between them; if they make no game together,
then those that stand side by side.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, dropwhile, groupby

from awello.errors import AwelloError, NotationError
from awello.formats.ggf import parse_ggf
from awello.formats.ogn import parse_ogn
from awello.formats.transcript import follow, split_transcript
from awello.position import Position, parse_position
from awello.record import Record
from awello.rules.game import PASS, SIZES, USUAL, Game
from awello.rules.othello import DISCS

LONGEST = 1 << 16  # characters
HINT = "paste the moves of a game such as f5d6c3 or FfBe, a board or a diagram"
LEAST_LETTERS, LEAST_ROWS = 12, 3  # so many letters of discs side by side, or rows of them, were meant as a board

WORD = re.compile(r"[^\W_]+|(?<!-)--(?!-)")
OTHELLO_MOVE = re.compile(r"[a-h][1-8]|--|pass|pa|ps", re.I | re.A)
OTHELLO_MOVES = re.compile(rf"[0-9]*(?:{OTHELLO_MOVE.pattern})+", re.I | re.A)
SQUARES_NAMED = re.compile(r"(?:[a-h][1-8])+", re.I | re.A)
AWALE_MOVES = re.compile(r"[0-9]*[A-F]?(?:[a-f][A-F])*[a-f]?")
MOVES = {"othello": (OTHELLO_MOVE, OTHELLO_MOVES), "awale": (re.compile("[A-Fa-f]"), AWALE_MOVES)}
HEADINGS = ("ABCDEF", "fedcba")  # the names of the pits round a drawn board

GGF = re.compile(r"\(;\s*[A-Z]{2}\[")
OGN = re.compile(r'^[ \t]*\[(?:Variant|South|North)[ \t]+"', re.M)
DIAGRAM = re.compile(r"\b[0-9]{1,3}(?:-[0-9]{1,3}){5,}(?:-[A-Za-z]\b)?")
SQUARES = {size * size for size in SIZES}
MOVER = re.compile(r"\b(black|white|south|north|[xobw])\s+to\s+(?:move|play)\b", re.I | re.A)
SECOND = ("white", "o", "w", "north")
TAKEN = re.compile(r"\bSouth\s+([0-9]{1,2})\W{1,3}North\s+([0-9]{1,2})\b", re.I | re.A)
NOISE = str.maketrans(dict.fromkeys("|()[]{}'\"`,", " ") | {";": " ; "})

KINDS = {"othello": "transcript", "awale": "moves"}  # what the moves of a game are called

Found = tuple[str, Position, str]  # the kind of a position, the position, and the text after it


@dataclass(frozen=True)
class Recognised:
    """What a text turned out to be, and the game or position it holds."""

    kind: str
    """`transcript` (Othello's moves), `moves` (Awalé's), `ggf`, `ogn`, `obf`, `board` or `diagram`."""
    record: Record


def recognise(text: str, game: Game | None = None) -> Recognised:
    """The game or position in a text; `NotationError` says what was almost understood.

    Default: the game that the text tells, Othello of the size on which it is legal, or abapa.
    """
    if len(text) > LONGEST:
        message = f"the text has {len(text)} characters: paste one game, {LONGEST} at most"
        raise NotationError(message, "text_too_long", length=len(text), limit=LONGEST)
    try:
        return _file(text, game) or _position(text, game) or _game(text, game)
    except AwelloError as error:
        raise NotationError(str(error), error.code, **error.params) from None


def _file(text: str, game: Game | None) -> Recognised | None:
    """The first game of a text in GGF or OGN."""
    kind = "ggf" if GGF.search(text) else "ogn" if OGN.search(text) else None
    if kind is None:
        return None
    record = parse_ggf(text) if kind == "ggf" else parse_ogn(text)
    if game not in (None, record.start.game):
        message = f"this is a game of {record.start.game}, not of {game}: choose the other game"
        raise NotationError(message, "other_game", found=str(record.start.game), chosen=str(game))
    return Recognised(kind, record)


# ---- positions ------------------------------------------------------------------------------------------------------
def _position(text: str, game: Game | None) -> Recognised | None:
    """The first position in the text with the moves after it, if there is one."""
    found = _find_diagram(text, game) or _find_pits(text, game) or _find_rows(text, game) or _find_line(text, game)
    if found is None:
        return None
    kind, start, rest = found
    if kind == "obf":
        return Recognised(kind, Record(start))
    names, others = _names(rest, start.game)
    played = len(names) >= others and _play(rest, [start])
    return Recognised(kind, _legal(played) if played else Record(start))


def _find_diagram(text: str, game: Game | None) -> Found | None:
    """A diagram such as `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`."""
    if not (match := DIAGRAM.search(text)):
        return None
    return "diagram", _awale_position(match[0], text, game), text[match.end() :]


def _find_pits(text: str, game: Game | None) -> Found | None:
    """A drawn board of Awalé: two rows of six numbers, and a line that says how many seeds are taken."""
    if not (taken := TAKEN.search(text)):
        return None
    rows, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        words = line.translate(NOISE).split()
        if len(words) == 6 and all(re.fullmatch("[0-9]{1,2}", word) for word in words):
            rows.append(words)
        if len(rows) == 2:
            north, south = rows
            diagram = "-".join([*south, *north[::-1], taken[1], taken[2], "SN"[_said_mover(text) or 0]])
            return "diagram", _awale_position(diagram, text, game), "\n".join(lines[at + 1 :])
    return None


def _awale_position(diagram: str, text: str, game: Game | None) -> Position:
    """The position of a diagram, under the rules given or those that the text names as `repr` does."""
    if game is None:
        named = re.search(r"\bGame\.(ABAPA|TOURNAMENT|ROMEIN)\b", text)
        game = Game[named[1]] if named else Game.ABAPA
    _check_family(game, Game.ABAPA)
    return parse_position(diagram, game)


def _check_family(game: Game | None, found: Game) -> None:
    """Refuse a position of another family than that of the game."""
    if game is not None and game.family != found.family:
        titles = found.adapter.title, game.adapter.title
        message = "this is a position of {}, not of {}: choose the other game".format(*titles)
        raise NotationError(message, "other_game", found=str(found), chosen=str(game))


def _find_rows(text: str, game: Game | None) -> Found | None:
    """A board drawn in rows, with or without coordinates; `+` may stand for a legal move."""
    rows: list[str] = []
    lines, end = text.splitlines(), 0
    for at, line in enumerate([*lines, "the end"]):
        row = "".join(line.translate(NOISE).split()).strip("12345678").replace("+", "-")
        is_row = len(row) in SIZES and DISCS.keys() >= set(row)
        if is_row and (not rows or len(row) == len(rows[0])):
            rows.append(row)
            end = at + 1
        elif not set(line) <= set(" |+-=_"):
            if len(rows) >= LEAST_ROWS and _has_discs("".join(rows)):
                return _square(rows, text, "\n".join(lines[end:]), game)
            rows = [row] if is_row else []
    return None


def _square(rows: list[str], text: str, rest: str, game: Game | None) -> Found:
    """The board of some rows, which must be as many as they are long."""
    if len(rows) != len(rows[0]):
        raise NotationError(f"the board has {len(rows)} rows of {len(rows[0])} squares: give 8 of 8, 6 of 6 or 4 of 4")
    return "board", _board("".join(rows), _said_mover(text, rest), game), rest


def _find_line(text: str, game: Game | None) -> Found | None:
    """A board whose squares stand on one line, perhaps in groups, with or without the side to move."""
    lines = text.splitlines()
    almost = 0
    for at, line in enumerate(lines):
        words, done = line.partition("%")[0].translate(NOISE).split(), 0
        for discs, group in groupby(words, lambda word: DISCS.keys() >= set(word)):
            run = list(group)
            if discs and (size := _size_of(run)):
                letters, rest = "".join(run), "\n".join([" ".join(words[done + len(run) :]), *lines[at + 1 :]])
                kind = "obf" if rest.startswith(";") else "board"
                side = _said_mover(text, letters[size : size + 1] or rest)
                return kind, _board(letters[:size], side, game), rest
            done += len(run)
            almost = max(almost, *map(len, run)) if discs and _has_discs("".join(run)) else almost
    if almost >= LEAST_LETTERS:
        raise NotationError(f"the board has {almost} squares: give 64 (or 36, 16) of X, O and -")
    return None


def _size_of(run: list[str]) -> int:
    """How many squares of a board the words begin with, 0 if they are no board."""
    letters, ends = "".join(run), set(accumulate(map(len, run)))
    whole = (size for size in SQUARES if size in ends or (size + 1 in ends and DISCS[letters[size]]))
    return max((size for size in whole if _has_discs(letters[:size])), default=0)


def _has_discs(letters: str) -> bool:
    return any(DISCS[letter] for letter in letters)


def _said_mover(text: str, rest: str = "") -> int | None:
    """The side that is to move as the text says, or as the letter does that the rest begins with; None if unsaid."""
    side = DISCS.get("".join(rest.split(maxsplit=1)[:1]), 0)
    if side:
        return side - 1
    match = MOVER.search(text)
    return int(match[1].lower() in SECOND) if match else None


def _board(letters: str, side: int | None, game: Game | None) -> Position:
    """The position of a board; where nobody says who is to move, an even number of discs makes it Black's turn."""
    _check_family(game, Game.OTHELLO)
    positions = [parse_position(f"{letters} {mover}", game) for mover in "XO"]
    if side is None:
        side = sum(positions[0].holdings()) % 2
        side = 1 - side if positions[side].legal_moves() == (PASS,) else side
    return positions[side]


# ---- games ----------------------------------------------------------------------------------------------------------
def _game(text: str, game: Game | None) -> Recognised:
    """The game from the start that the text tells."""
    games = [_likely(text)] if game is None else [game]
    if game is None and games == [Game.OTHELLO]:
        games += [Game.OTHELLO4, Game.OTHELLO6]
    if games[0].family == "othello":  # elsewhere a word that names some moves may be any word
        _refuse_typos(text)
    played = _play(text, [Position.start(game) for game in games])
    if played is None:
        raise NotationError(f"there is no game and no position in this text: {HINT}", "no_game_in_text")
    return Recognised(KINDS[games[0].family], _legal(played))


def _likely(text: str) -> Game:
    """The game that the text is about: the one it tells without another word, else the one it names more moves of."""
    for game in USUAL.values():
        names, rest = split_transcript(text, game)
        if names and not rest:
            return game
    moves, (pits, others) = _names(text, Game.OTHELLO)[0], _names(text, Game.ABAPA)
    return Game.ABAPA if len(pits) > len(moves) and len(pits) >= others else Game.OTHELLO


def _refuse_typos(text: str) -> None:
    """Refuse a text that has most of its moves in words that go wrong, such as `f5d6x9`."""
    words = [word for word in WORD.findall(text) if not OTHELLO_MOVES.fullmatch(word)]
    broken = [(match[0], word[match.end() :]) for word in words if (match := SQUARES_NAMED.match(word))]
    if sum(len(moves) for moves, _ in broken) > 2 * len(_names(text, Game.OTHELLO)[0]):
        moves, wrong = broken[0]
        message = f"after {moves[-8:]} comes {wrong[:8]!r}, which is no move"
        raise NotationError(message, "unreadable_moves", before=moves[-8:], text=wrong[:8])


Played = tuple[Record, AwelloError | None]


def _legal(played: Played) -> Record:
    """The record of a game that was played to its last move, else what was wrong with the next one."""
    record, error = played
    if error:
        raise error
    return record


def _play(text: str, starts: list[Position]) -> Played | None:
    """The game that the text tells from one of the starts: all of it or, with an error, as far as it went.

    None if the text names no move.
    """
    furthest: Played | None = None
    for names in _readings(text, starts):
        for start in starts:
            played = record, error = follow(names, start)
            if error is None:
                return played
            if furthest is None or len(record.moves) > len(furthest[0].moves):
                furthest = played
    return furthest


def _readings(text: str, starts: list[Position]) -> Iterator[list[str]]:
    """The names of the moves, read in one way after the other."""
    game = starts[0].game
    # Step 1. Nothing but moves, in the words of a transcript.
    names, rest = split_transcript(text, game)
    if names and not rest:
        yield names
    # Step 2. Every word that can be a move.
    if not (every := _names(text, game)[0]):
        return
    yield every
    # Step 3. The same without the words before the first that is legal, or the longest run of moves side by side; they
    # must be most of the moves, for the others are taken for something else.
    words = list(_words(text, game))
    legal = [_from_first_legal(words, start) for start in starts]
    runs = [list(run) for moves, run in groupby(words, lambda names: names is not None) if moves]
    for part in (*legal, max(runs, key=lambda run: len(_join(run)))):
        if 2 * len(names := _join(part)) > len(every):
            yield names
    # Step 4. The first of several games, one a line.
    lines = filter(None, (_names(line, game)[0] for line in text.splitlines()))
    first, second = next(lines), next(lines, None)
    if second and any(follow(second, start)[1] is None for start in starts):
        yield first


def _from_first_legal(words: list[list[str] | None], start: Position) -> list[list[str] | None]:
    """The words from the first that begins with a legal move; Othello's may be in capitals."""
    legal = set(map(start.format_move, start.legal_moves()))
    return list(dropwhile(lambda names: not names or legal.isdisjoint({names[0], names[0].lower()}), words))


def _names(text: str, game: Game) -> tuple[list[str], int]:
    """All moves that the text may name, and how many other words it has."""
    words = list(_words(text, game))
    return _join(words), words.count(None)


def _join(words: Iterable[list[str] | None]) -> list[str]:
    return [name for names in words for name in names or ()]


def _words(text: str, game: Game) -> Iterator[list[str] | None]:
    """For each word the moves it may name: none for a number, None for a word that can be no move."""
    for line in text.splitlines():
        if "".join(line.split()) in HEADINGS:
            continue
        for match in WORD.finditer(line):
            one, several = MOVES[game.family]
            yield one.findall(match[0]) if match[0].isdecimal() or several.fullmatch(match[0]) else None
