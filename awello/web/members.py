"""The club's part of the API: accounts, tokens, the ladder, profiles and games to take home."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field, StringConstraints

from awello.web.clubhouse import COOKIE, House
from awello.web.door import Refusal, address_of
from awello.web.exchange import FILE, packed
from awello.web.limits import network_of
from awello.web.messages import GameName, Message

LONGEST_LABEL = 60
MOST_GAMES = 5000  # that are written to one file
LARGEST = (1 << 31) - 1  # number of a game

router = APIRouter(prefix="/api/club", tags=["club"])
Name = Annotated[str, StringConstraints(min_length=1, max_length=40)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class Login(Message):
    """Who somebody is."""

    name: Name
    password: Secret


class Passwords(Message):
    """A password to change."""

    old: Secret
    new: Secret


class Program(Message):
    """A program to register."""

    name: Name


class Label(Message):
    """A token to make."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LABEL)]


class Member(BaseModel):
    """Who is logged in."""

    name: str | None = Field(description="Null if nobody is")
    program: bool = False


class Token(BaseModel):
    """A token of a program, without its secret."""

    id: int
    label: str
    created: float


class Tally(BaseModel):
    """A rating, and the rated games it comes from."""

    rating: int
    sure: bool = Field(description="False while too few games have been played")
    wins: int
    draws: int
    losses: int


class Rank(Tally):
    """A place on the ladder."""

    name: str
    program: bool


class Pool(Tally):
    """What somebody is worth in one game at one speed."""

    game: GameName
    speed: Literal["blitz", "standard"]


class ClubGame(BaseModel):
    """A game of the club in a list; of two entries the first is that of whoever moved first."""

    number: int
    game: GameName
    players: tuple[str, str]
    side: Literal[0, 1] = Field(description="Of whoever was asked about")
    seconds: float = Field(description="On each clock at first")
    increment: float
    rated: bool
    begun: float = Field(description="In seconds since 1970")
    over: bool
    winner: Literal[0, 1] | None
    score: tuple[int, int] | None = Field(description="Where the board decided")
    reason: str = Field(description="How it ended, where the board did not decide")
    change: int | None = Field(description="By how much the rating changed, if the game counted")


class Profile(BaseModel):
    """What everybody may know of somebody."""

    name: str
    program: bool
    owner: str | None = Field(description="Whose program it is")
    here: bool = Field(description="Whether they are in the club now")
    ratings: list[Pool]
    games: int = Field(description="That have ended, whether they counted or not")
    last: list[ClubGame] = Field(description="The latest first; those that are being played too")


def _often(taken: bool) -> None:
    if not taken:
        raise Refusal(429, "often", "too many tries: wait a minute")


# ---- accounts -------------------------------------------------------------------------------------------------------
@router.post("/accounts", summary="Open an account", response_model=Member)
async def sign_up(login: Login, house: House, request: Request) -> Any:
    """An account for a person, who is logged in at once."""
    from awello.club import accounts
    from awello.club.desk import note

    house.hall  # noqa: B018  (refused where there is no club)
    _often(house.signups.take(network_of(address_of(request))))
    hashed = await house.hash(accounts.hash_password, login.password)

    def act(connection: Any) -> tuple[Any, str]:
        account = accounts.open_account(connection, login.name, hashed)
        note(connection, "account opened", address_of(request), account.number)
        return account, accounts.open_session(connection, account)

    account, secret = await house.write(act)
    return _welcome(request, account.name, secret)


@router.post("/session", summary="Log in", response_model=Member)
async def log_in(login: Login, house: House, request: Request) -> Any:
    """A session for a browser, kept in a cookie."""
    from awello.club import accounts
    from awello.club.desk import note

    address = address_of(request)
    _often(house.may_try(network_of(address), login.name))
    account, hashed = await house.read(partial(accounts.stored_password, name=login.name))
    right = await house.hash(accounts.is_password, hashed, login.password)
    if account is None or not right:
        await house.write(lambda connection: note(connection, f"wrong password for {login.name}", address))
        raise Refusal(401, "password", "the name or the password is wrong")

    def act(connection: Any) -> str:
        if accounts.stored_password(connection, login.name)[1] != hashed:
            raise Refusal(401, "password", "the password has just been changed: use the new one")
        note(connection, "logged in", address, account.number)
        return accounts.open_session(connection, account)

    secret = await house.write(act)
    house.remember(network_of(address), account.name)
    return _welcome(request, account.name, secret)


@router.put("/password", summary="Change one's password", response_model=Member)
async def change(passwords: Passwords, house: House, request: Request) -> Any:
    """Another password for whoever is logged in; all other browsers must log in again."""
    from awello.club import accounts
    from awello.club.desk import note

    person, address = await _person(house, request), address_of(request)
    _often(house.may_try(network_of(address), person.name))
    _, hashed = await house.read(partial(accounts.stored_password, name=person.name))
    if not await house.hash(accounts.is_password, hashed, passwords.old):
        await house.write(lambda connection: note(connection, "wrong password", address, person.number))
        raise Refusal(403, "password", "the old password is wrong")
    new = await house.hash(accounts.hash_password, passwords.new)

    def act(connection: Any) -> str:
        accounts.change_password(connection, person, new)
        note(connection, "password changed", address, person.number)
        return accounts.open_session(connection, person)

    return _welcome(request, person.name, await house.write(act))


@router.delete("/session", summary="Log out", response_model=Member)
async def log_out(house: House, request: Request) -> Any:
    """End this browser's session."""
    from awello.club.accounts import close_session

    if secret := request.cookies.get(COOKIE):
        await house.write(partial(close_session, secret=secret))
    answer = JSONResponse({"name": None, "program": False})
    answer.delete_cookie(COOKIE, path="/api/club")
    return answer


@router.get("/session", summary="Who is logged in", response_model=Member)
async def session(house: House, request: Request) -> Any:
    """The name of whoever asks."""
    account = await house.who(request.headers, request.cookies)
    return {"name": account.name, "program": account.program} if account else {"name": None}


def _welcome(request: Request, name: str, secret: str) -> Response:
    """Answer with a cookie that scripts cannot read and other sites cannot send."""
    answer = JSONResponse({"name": name, "program": False})
    secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE, secret, max_age=30 * 86400, path="/api/club", httponly=True, samesite="strict", secure=secure
    )
    return answer


async def _person(house: Any, request: Request) -> Any:
    account = await house.who(request.headers, request.cookies)
    if account is None or account.program:
        raise Refusal(401, "account", "only people who are logged in can do this: log in")
    return account


# ---- programs -------------------------------------------------------------------------------------------------------
@router.post("/programs", summary="Register a program", response_model=Member)
async def add_program(program: Program, house: House, request: Request) -> Any:
    """An account for a program of whoever asks."""
    from awello.club import accounts
    from awello.club.desk import note

    owner = await _person(house, request)

    def act(connection: Any) -> Any:
        note(connection, f"program {program.name} registered", address_of(request), owner.number)
        return accounts.open_account(connection, program.name, None, owner.number)

    made = await house.write(act)
    return {"name": made.name, "program": True}


@router.get("/programs", summary="One's programs", response_model=list[Member])
async def programs(house: House, request: Request) -> Any:
    """The programs of whoever asks."""
    from awello.club.accounts import list_programs

    found = await house.read(partial(list_programs, owner=await _person(house, request)))
    return [{"name": program.name, "program": True} for program in found]


async def _program(house: Any, request: Request, name: str) -> Any:
    """A program of whoever asks."""
    from awello.club.accounts import find_account

    owner, found = await _person(house, request), await house.read(partial(find_account, name=name))
    if found is None or found.owner != owner.number:
        raise Refusal(404, "absent", f"you have no program {name}")
    return found


OfProgram = Annotated[str, Path(max_length=40)]


@router.get("/programs/{name}/tokens", summary="Tokens of a program", response_model=list[Token])
async def tokens(name: OfProgram, house: House, request: Request) -> Any:
    """The tokens that were made for a program, without their secrets."""
    from awello.club.accounts import list_tokens

    return await house.read(partial(list_tokens, account=await _program(house, request, name)))


@router.post("/programs/{name}/tokens", summary="Make a token")
async def add_token(name: OfProgram, label: Label, house: House, request: Request) -> dict[str, str]:
    """The secret by which a program logs in; it is shown once."""
    from awello.club.accounts import make_token
    from awello.club.desk import note

    program = await _program(house, request, name)

    def act(connection: Any) -> str:
        note(connection, f"token made for {program.name}", address_of(request), program.owner)
        return make_token(connection, program, label.label)

    return {"token": await house.write(act)}


@router.delete("/programs/{name}/tokens/{number}", summary="Revoke a token")
async def drop_token(
    name: OfProgram, number: Annotated[int, Path(ge=1, lt=1 << 31)], house: House, request: Request
) -> dict[str, bool]:
    """Whoever has it cannot log in any more."""
    from awello.club.accounts import revoke_token
    from awello.club.desk import note

    program = await _program(house, request, name)

    def act(connection: Any) -> bool:
        note(connection, f"token {number} of {program.name} revoked", address_of(request), program.owner)
        return revoke_token(connection, program, number)

    return {"revoked": await house.write(act)}


# ---- what everybody may see -----------------------------------------------------------------------------------------
@router.get("/ladder", summary="The best of a game", response_model=list[Rank])
async def show_ladder(
    house: House,
    game: GameName = "othello",
    speed: Annotated[str, Query(pattern="^(blitz|standard)$")] = "blitz",
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> Any:
    """People and programs by their rating."""
    from awello.club.desk import ladder
    from awello.club.rating import SURE

    house.hall  # noqa: B018
    rows = await house.read(lambda connection: ladder(connection, f"{game} {speed}", limit))
    return [row | {"rating": round(row["mean"]), "sure": row["doubt"] <= SURE} for row in rows]


@router.get("/players/{name}", summary="A player", response_model=Profile)
async def show_player(
    name: OfProgram,
    house: House,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only games with smaller numbers")] = None,
) -> Any:
    """Their ratings, how many games they have played, and the last of them."""
    from awello.club import profile

    account, owner = await _player(house, name)

    def ask(connection: Any) -> dict[str, Any]:
        return {
            "ratings": profile.ratings_of(connection, account.number),
            "games": profile.count_games(connection, account.number),
            "last": profile.last_games(connection, account.number, limit, before),
        }

    here = account.number in house.hall.present
    return {"name": account.name, "program": account.program, "owner": owner, "here": here, **await house.read(ask)}


@router.get("/players/{name}/games", summary="A player's games as a file", response_class=Response, responses=FILE)
async def take_home(
    name: OfProgram,
    house: House,
    request: Request,
    before: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only games with smaller numbers")] = None,
) -> Response:
    """The games that have ended: those of Othello as GGF, those of Awalé as OGN; both are packed into a `.zip`."""
    from awello.club.profile import records_of
    from awello.formats.files import find_format

    account, _ = await _player(house, name)
    _often(house.downloads.take(network_of(address_of(request))))

    def write(connection: Any) -> dict[str, bytes]:
        records = list(records_of(connection, account, MOST_GAMES, before))
        sorts = [("ggf", "othello"), ("ogn", "awale")]
        found = [(format, [each for each in records if each.start.game.family == family]) for format, family in sorts]
        return {end: text for format, some in found if some for end, text in find_format(format).write(some).items()}

    async with house.writing:  # one at a time, so that games go on undisturbed
        contents = await house.read(write)
    if not contents:
        raise Refusal(404, "absent", f"{account.name} has played no game to its end")
    return packed(contents, f"awello-{account.name}")


async def _player(house: Any, name: str) -> tuple[Any, str | None]:
    """The account of a name, and the name of its owner."""
    from awello.club.accounts import find_account, owner_of

    found = await house.read(partial(find_account, name=name))
    if found is None:
        raise Refusal(404, "absent", f"there is no player {name}")
    return found, await house.read(partial(owner_of, account=found))
