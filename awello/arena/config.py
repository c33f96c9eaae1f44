"""The YAML configuration of `awello run`: the game, the players and the match settings.

All top-level keys are optional.
"""

from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from awello.errors import ConfigError, describe_invalid_value
from awello.limits import Clock, format_limit, parse_clock, parse_limit
from awello.players.player import make_player
from awello.players.spec import PlayerSpec, parse_spec
from awello.rules.game import Game, find_game


class PlayerConfig(BaseModel, extra="forbid"):
    """A player, given as a spec or with separate keys for its parts."""

    player: str
    heuristic: str | None = None
    limit: str | int | None = None
    square_table: int | str | None = None
    thresholds: Annotated[list[int], Field(min_length=2, max_length=2)] | None = None
    settings: dict[str, str | int | float | bool] = {}

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: Any) -> Any:
        """Split a spec such as `alphabeta:mixed@6` into its parts."""
        if not isinstance(value, str):
            return value
        spec = parse_spec(value)
        limit = format_limit(spec.limit) if spec.limit else None
        return {"player": spec.name, "heuristic": spec.heuristic, "limit": limit, "settings": dict(spec.settings)}

    def to_spec(self) -> PlayerSpec:
        """Build the player's spec."""
        thresholds = self.thresholds and "-".join(map(str, self.thresholds))
        settings = {"square_table": self.square_table, "thresholds": thresholds, **self.settings}
        texts = {key: str(value) for key, value in settings.items() if value is not None}
        return PlayerSpec(
            self.player, self.heuristic, None if self.limit is None else parse_limit(str(self.limit)), texts
        )


class RunConfig(BaseModel, extra="forbid"):
    """The configuration of `awello run`."""

    game: str = "othello"
    size: int | None = None
    variant: str | None = None
    players: Annotated[list[PlayerConfig], Field(min_length=2, max_length=2)] = [
        PlayerConfig(player="human"),
        PlayerConfig(player="greedy"),
    ]
    games: Annotated[int, Field(ge=1)] = 1
    seed: int = 0
    clock: str | int | float | None = None
    openings: Path | None = None
    jobs: Annotated[int, Field(ge=1)] | None = None
    cluster: str | None = None
    out: Path | None = None
    display: bool = True

    def parse_game(self) -> Game:
        """Return the rule set that `game`, `size` and `variant` select."""
        return find_game(self.game, self.size, self.variant)

    def parse_time_control(self) -> Clock:
        """Return the clock of each player at the start of a game."""
        return Clock() if self.clock is None else parse_clock(str(self.clock))

    def parse_specs(self) -> tuple[PlayerSpec, PlayerSpec]:
        """Return the specs of both players, or raise `SpecError` if a player cannot be made from its spec."""
        first, second = (player.to_spec() for player in self.players)
        for spec in (first, second):
            make_player(spec)
        return first, second


def load_config(path: Path) -> RunConfig:
    """Load a configuration file, or raise a `ConfigError` that describes the problem."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error.strerror}; give a YAML file") from None
    except (UnicodeDecodeError, RecursionError):
        raise ConfigError(f"{str(path)!r} is not a configuration: give a YAML file such as examples/run.yaml") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{where}: invalid YAML: {getattr(error, 'problem', error)}") from None
    if not isinstance(content, dict):
        problem = "is empty" if content is None else "does not consist of keys and values"
        raise ConfigError(f"{path} {problem}: write lines such as 'game: othello'")
    try:
        return RunConfig.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_explain(error)}") from None


def _explain(error: ValidationError) -> str:
    """Describe the first error of a configuration in one line."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    keys = PlayerConfig.model_fields if name.startswith("players.") else RunConfig.model_fields
    if first["type"] == "extra_forbidden":
        return f"unknown key {name!r}; use only the keys {', '.join(keys)}"
    return describe_invalid_value(name, dict(first))
