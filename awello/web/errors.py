"""What was wrong with a request, in one line for people and one word for programs."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from awello.club.game_state import ClubError
from awello.errors import AwelloError, IllegalMoveError, SpecError

MAX_ERROR_CHARS = 200  # letters of a line
MAX_QUOTED_CHARS = 40  # letters of what was given


def describe_error(error: ValidationError | RequestValidationError | AwelloError | HTTPException) -> tuple[str, str]:
    """The code and the line of an error: where it is and what it is."""
    if isinstance(error, HTTPException):
        return getattr(error, "code", HTTPStatus(error.status_code).phrase.lower()), to_one_line(error.detail)
    if isinstance(error, ValidationError | RequestValidationError):
        first = error.errors()[0].get("ctx", {}).get("error")
        if isinstance(first, AwelloError):  # only players are checked by more than their shape
            return "player", to_one_line(str(first))
        return "message", to_one_line(_describe_validation(error.errors()))
    if isinstance(error, ClubError):
        return error.code, to_one_line(str(error))
    code = "illegal" if isinstance(error, IllegalMoveError) else "player" if isinstance(error, SpecError) else "message"
    return code, to_one_line(str(error))


def _describe_validation(errors: Sequence[Any]) -> str:
    """The first thing that is wrong, and how many there are beside it."""
    first, others = errors[0], len(errors) - 1
    where = ".".join(str(part) for part in first["loc"] if part != "body")[:MAX_QUOTED_CHARS]
    what = first["msg"][:1].lower() + first["msg"][1:]
    if first["type"] == "json_invalid":
        return f"the message is no JSON: {first['ctx']['error']}"
    if first["type"] == "string_pattern_mismatch":
        what = f"{str(first['input'])[:MAX_QUOTED_CHARS]!r} is no move such as f5, C or pass"
    more = f" (and {others} more)" if others else ""
    return f"{where}: {what}{more}" if where else f"{what}{more}"


def to_one_line(text: str) -> str:
    """A text in one line that is not too long."""
    words = " ".join(text.split())
    return words if len(words) <= MAX_ERROR_CHARS else f"{words[:MAX_ERROR_CHARS]}..."
