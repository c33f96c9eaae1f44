"""One search from its first ply to its last: deepening, solving, and the line of best play.

A search to a depth goes ply by ply, each in a window round the value of the one before.  A search to the end of the
game asks whether the score exceeds a number, again and again; each answer narrows the bounds until they meet.  It is
done first quickly, with probable cuts, and then ever more surely: the quick passes fill the table with good moves,
and their value is where the next pass begins to ask.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from awello.analysis import Analysis
from awello.engine.clock import UNLIMITED, Allowance, is_time_for_more
from awello.engine.levels import FULL_WIDTH, MIDGAME_CERTAINTY, level_of
from awello.engine.probcut import PERCENT, SURE
from awello.engine.table import NO_MOVE
from awello.engine.threads import Question, Stopped, Team, empties_of
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, legal_moves

WINDOW = 3  # discs on either side of the last value
PASSES = (1, 2)  # certainties of the quick passes of a solution, one after the other
NEAR_END = 18  # up to so many empty squares a glance is enough before a solution
STRAIGHT = 13  # up to so many empty squares a solution needs no quick passes
AHEAD = 10  # a search without a depth goes over to solving when so many squares lie beyond it
LEAST_DEPTH = 6  # plies searched before a solution begins
LINE_NODES = 1 << 22  # what the rest of a solved line may cost
Found = tuple[int, int]  # a value and the move that has it


@dataclass
class Thinking:
    """A position that is being searched, and what is known of it."""

    team: Team
    position: Position
    best: int = 1
    """How many moves are given a value."""
    allowed: Allowance = UNLIMITED
    begun: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.empties, self.points = empties_of(self.position), self.position.game.points
        self.moves = int(legal_moves(int(self.position.game), U(self.position.own), U(self.position.opp)))
        self.found: list[Found] = []

    # ---- plans: the searches that follow one another, each a depth and a certainty ----------------------------------
    def plan(self, limit: Limit) -> Iterator[tuple[int, int]]:
        """The searches that a limit asks for, the later the better."""
        if limit.level is not None:
            level = level_of(limit.level)
            sure = level.solving_certainty(self.empties)
            return self.plan_depth(level.depth, level.certainty) if sure is None else self.plan_solution(sure)
        if limit.depth is not None:
            return self.plan_depth(limit.depth, SURE if limit.depth <= FULL_WIDTH else MIDGAME_CERTAINTY)
        return self.plan_solution(SURE)

    def plan_depth(self, depth: int, certainty: int) -> Iterator[tuple[int, int]]:
        """Ply by ply to a depth; to the end of the game if that is no further."""
        if depth >= self.empties:
            yield from self.plan_solution(SURE)
        for plies in range(1, min(depth, self.empties - 1) + 1 if depth < self.empties else 1):
            yield plies, SURE if plies <= FULL_WIDTH else certainty

    def plan_solution(self, certainty: int) -> Iterator[tuple[int, int]]:
        """Ply by ply until the end of the game is in reach, then to the end, more and more surely."""
        depths = range(1, min(self.empties, max(LEAST_DEPTH, self.empties - AHEAD)))
        for plies in depths if self.empties > NEAR_END else sorted({*depths[:1], *depths[-1:]}):
            yield plies, SURE if plies <= FULL_WIDTH else MIDGAME_CERTAINTY
        for sure in PASSES if self.empties > STRAIGHT else ():
            if sure < certainty:
                yield self.empties, sure
        yield self.empties, certainty

    # ---- the search -------------------------------------------------------------------------------------------------
    def deepen(self, limit: Limit) -> Iterator[Analysis]:
        """An answer for each search of the plan, as long as the next one can be finished in time."""
        last, before = 0.0, 0.0
        for depth, certainty in self.plan(limit):
            elapsed = self.elapsed()
            if self.found and not is_time_for_more(self.allowed, elapsed, last, before):
                break
            self.found = self.search_moves(depth, certainty)
            yield self.answer(depth, certainty)
            last, before = self.elapsed() - elapsed, last

    def solve(self, wld: bool) -> Iterator[Analysis]:
        """The plan of a solution; with `wld` the last passes only ask whether the game is won or drawn."""
        for depth, certainty in self.plan_solution(SURE):
            if wld and depth == self.empties:
                self.found = [self.outcome(certainty)]
            else:
                self.found = self.search_moves(depth, certainty)
            yield self.answer(depth, certainty, wld)

    def search_moves(self, depth: int, certainty: int) -> list[Found]:
        """The value of the best moves: each search leaves out those that are known to be better."""
        left, known = self.moves, self.found
        found: list[Found] = []
        while left and len(found) < self.best:
            guess = known[len(found)] if len(found) < len(known) else None
            if guess is not None and not left >> guess[1] & 1:
                guess = guess[0], NO_MOVE
            find = self.narrow if depth >= self.empties else self.aspire
            value, move = find(left, depth, certainty, guess)
            found.append((value, move))
            left &= ~(1 << move)
        return sorted(found, key=lambda item: -item[0])

    def ask(self, moves: int, alpha: int, beta: int, depth: int, certainty: int, first: int) -> Found:
        """The value of these moves in a window, and the best of them."""
        return self.team.ask(Question(self.position, U(moves), alpha, beta, depth, certainty, first))

    def aspire(self, moves: int, depth: int, certainty: int, guess: Found | None) -> Found:
        """The value of a search to a depth, in a window round the guess that opens where it is too narrow."""
        low, high, first = -self.points, self.points, NO_MOVE
        if guess is not None:
            low, high, first = max(low, guess[0] - WINDOW), min(high, guess[0] + WINDOW), guess[1]
        while True:
            value, move = self.ask(moves, low, high, depth, certainty, first)
            if value <= low > -self.points:
                low = max(-self.points, value - 4 * WINDOW)
            elif value >= high < self.points:
                high, first = min(self.points, value + 4 * WINDOW), move
            else:
                return value, move

    def narrow(self, moves: int, depth: int, certainty: int, guess: Found | None) -> Found:
        """The score of a search to the end: questions of one number each, until the bounds meet.  Scores are even."""
        lower, upper = -self.points, self.points
        score, move = guess or (0, NO_MOVE)
        score = min(upper, max(lower, score - score % 2))
        while lower < upper:
            beta = score + 2 if score == lower else score
            value, best = self.ask(moves, beta - 1, beta, depth, certainty, move)
            if value >= beta:
                score = lower = value + value % 2
                move = best
            else:
                score = upper = value - value % 2
        return score, move if move != NO_MOVE else moves.bit_length() - 1

    def outcome(self, certainty: int) -> Found:
        """Whether the game is won (1), drawn (0) or lost (-1), and by which move."""
        first = self.found[0][1] if self.found else NO_MOVE
        value, move = self.ask(self.moves, 0, 1, self.empties, certainty, first)
        if value >= 1:
            return 1, move
        value, move = self.ask(self.moves, -1, 0, self.empties, certainty, first)
        return (0, move) if value >= 0 else (-1, move)

    # ---- the answer -------------------------------------------------------------------------------------------------
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.begun

    def answer(self, depth: int, certainty: int, wld: bool = False) -> Analysis:
        """What has been found, as others see it."""
        value, move = self.found[0]
        nodes, seconds = self.team.nodes, self.elapsed()
        exact = depth >= self.empties and certainty == SURE
        if exact and not wld:
            line = self.solved_line(move, value)
        else:
            line = (move, *self.remembered_line(self.position.after(move)))
        candidates = tuple((move, float(value)) for value, move in self.found)
        return Analysis(move, float(value), exact, depth, nodes, 0, seconds, candidates, line, PERCENT[certainty])

    def remembered_line(self, position: Position) -> tuple[int, ...]:
        """The best line from a position as far as the table remembers it."""
        line: list[int] = []
        while len(line) < self.empties:
            moves = position.legal_moves()
            move = PASS if moves == (PASS,) else self.team.best_move(position)
            if move not in moves:
                break
            line.append(move)
            position = position.after(move)
        return tuple(line)

    def solved_line(self, move: int, value: int) -> tuple[int, ...]:
        """The best line to the end of the game: in each position a move that has the score."""
        line, position, value = [move], self.position.after(move), -value
        self.team.allow(LINE_NODES)
        try:
            while moves := position.legal_moves():
                if moves == (PASS,):
                    move = PASS
                else:
                    word, first = sum(1 << move for move in moves), self.team.best_move(position)
                    first = first if first in moves else NO_MOVE
                    question = Question(position, U(word), value - 1, value, empties_of(position), SURE, first)
                    move = self.team.ask(question)[1]
                line.append(move)
                position, value = position.after(move), -value
        except Stopped:
            if self.team.stopped:
                raise
            line += self.remembered_line(position)
        finally:
            self.team.allow(None)
        return tuple(line)
