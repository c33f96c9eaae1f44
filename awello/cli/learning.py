"""After games: players that learn from what they played do so."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awello.players.player import Player
    from awello.record import Record


def learn_from(
    players: "Sequence[Player]", records: "Sequence[Record]", sides: Sequence[int]
) -> dict[str, dict[str, int]]:
    """Let those of two players who learn do so from finished games, in which the first had a side; by their folders."""
    from awello.players.otage import Otage

    learnt: dict[str, dict[str, int]] = {}
    for place, (player, opponent) in enumerate((players, players[::-1])):
        if isinstance(player, Otage) and player.memory and player.learning and records:
            from awello.learn.replay import learn_from_match

            own = [side ^ place for side in sides]
            found = asdict(learn_from_match(Path(player.memory), records, own, str(opponent)))
            before = learnt.get(player.memory, dict.fromkeys(found, 0))
            learnt[player.memory] = {name: before[name] + count for name, count in found.items()}
    return learnt


def describe(learnt: dict[str, dict[str, int]]) -> list[str]:
    """The same for people, a line each."""
    return [
        f"otage in {folder} has learnt from {each['games']} game{'s' * (each['games'] > 1)} and keeps {each['kept']}, "
        f"would play {each['changed']} of them differently"
        for folder, each in learnt.items()
    ]
