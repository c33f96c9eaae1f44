"""The lobby: who seeks a game, who challenges whom, and what everybody may see of the hall."""

from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, TypeVar

from awello.club.accounts import Account, find_account
from awello.club.game_state import ClubError
from awello.club.indexed_collection import IndexedCollection
from awello.club.live_game import ClientConnection, EncodedMessage
from awello.club.offers import GameTerms, Message, Offer
from awello.club.rating import Rating, pool_of
from awello.club.stored_games import rating_of

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MOST_SEEKS, MOST_CHALLENGES = 5, 10  # of one account that wait
MOST_CHALLENGED = 50  # challenges that wait for one account: who comes in is told all of them at once
NAMED = 100  # members, seeks and games that are listed

Thing = TypeVar("Thing")


class Lobby:
    """What is offered, to everybody or to one."""

    def __init__(self, hall: "ClubServer") -> None:
        self.hall = hall
        self.seeks: IndexedCollection[Offer] = IndexedCollection(lambda offer: offer.keys)
        self.challenges: IndexedCollection[Offer] = IndexedCollection(lambda offer: offer.keys)
        self._news = False  # whether something has changed since everybody was told
        self._seen: Message | None = None  # what everybody may see, until something changes
        self._numbers = count(1)

    async def seek(self, guest: ClientConnection, terms: GameTerms) -> Message:
        """Play somebody who seeks the same, or wait for one."""
        account = guest.member
        terms.check()
        rating = await self._rating(account, terms)
        self._must_be_here(account)
        self.hall.may_play(account, terms)
        for offer in self.seeks.of(terms.pool):
            if offer.terms.fits(terms) and self._can_meet(account, offer):
                return await self._take(account, offer, terms.side)
        if len(self.seeks.of(("by", account.number))) >= MOST_SEEKS:
            raise ClubError("many", f"you seek {MOST_SEEKS} games already: withdraw one")
        offer = Offer(next(self._numbers), account, terms, None, rating)
        self.seeks.add(offer.number, offer)
        self.change()
        return {"seek": offer.number}

    async def accept(self, guest: ClientConnection, number: int) -> Message:
        """Play whoever offers this, to all or to oneself."""
        account = guest.member
        offer = self.seeks.get(number) or self.challenges.get(number)
        hidden = offer is not None and offer.to is None and self.hall.blocks.has_blocked(offer.account, account)
        if offer is None or hidden or (offer.to and offer.to.number != account.number):
            raise ClubError("gone", f"there is no offer {number}: it was withdrawn or taken")
        if offer.account.number == account.number:
            raise ClubError("self", "this is your own offer: wait for somebody else")
        self.hall.may_play(account, offer.terms)
        return await self._take(account, offer, None)

    async def challenge(self, guest: ClientConnection, name: str, terms: GameTerms) -> Message:
        """Offer a game to somebody who is here."""
        account = guest.member
        terms.check()
        other = await self.hall.store.fetch(partial(find_account, name=name))
        rating = await self._rating(account, terms)
        self._must_be_here(account)
        self.hall.may_play(account, terms)
        if other is None or other.number not in self.hall.present:
            raise ClubError("absent", f"{name} is not here: look who is, or seek a game")
        if other.number == account.number:
            raise ClubError("self", "you cannot challenge yourself")
        self.hall.blocks.check(other, account)
        if len(self.challenges.of(("by", account.number))) >= MOST_CHALLENGES:
            raise ClubError("many", f"{MOST_CHALLENGES} of your challenges wait already: withdraw one")
        if len(self.challenges.of(("to", other.number))) >= MOST_CHALLENGED:
            raise ClubError("many", f"{MOST_CHALLENGED} challenges wait for {other.name} already: seek a game")
        offer = Offer(next(self._numbers), account, terms, other, rating)
        self.challenges.add(offer.number, offer)
        self.hall.tell_account(other.number, {"type": "challenge", **offer.view()})
        return {"challenge": offer.number}

    async def decline(self, guest: ClientConnection, number: int) -> Message:
        """Withdraw one's own offer, or decline one that was made to oneself."""
        account = guest.member
        offer = self.seeks.get(number) or self.challenges.get(number)
        mine = offer is not None and account.number in (offer.account.number, offer.to.number if offer.to else None)
        if offer is None or not mine:
            raise ClubError("gone", f"there is no such offer {number} of yours")
        self._remove(offer)
        if offer.to:
            self._tell_declined(offer.to if offer.account.number == account.number else offer.account, offer, account)
        return {}

    async def _take(self, account: Account, offer: Offer, side: int | None) -> Message:
        """Begin the game that was offered; an offer can be taken once."""
        self.hall.may_play(offer.account, offer.terms)
        self._remove(offer)
        wanted = offer.terms.side if offer.terms.side is not None else None if side is None else 1 - side
        first = self.hall.chance.randrange(2) if wanted is None else wanted
        people = (offer.account, account) if first == 0 else (account, offer.account)
        return await self.hall.start(people, offer.terms)

    def withdraw(self, account: Account) -> None:
        """Take back all that somebody offers."""
        mine = "by", account.number
        for offer in self.seeks.of(mine) + self.challenges.of(mine):
            self._remove(offer)
            if offer.to:
                self._tell_declined(offer.to, offer, account)

    def decline_all(self, account: Account, other: Account) -> None:
        """Decline every challenge of an account to another one."""
        for offer in self.challenges.of(("by", account.number)):
            if offer.to == other:
                self._remove(offer)
                self._tell_declined(account, offer, other)

    def _remove(self, offer: Offer) -> None:
        if offer.to:
            self.challenges.take(offer.number)
        else:
            self.seeks.take(offer.number)
            self.change()

    def _tell_declined(self, account: Account, offer: Offer, by: Account) -> None:
        self.hall.tell_account(account.number, {"type": "declined", "number": offer.number, "by": by.name})

    def _can_meet(self, account: Account, offer: Offer) -> bool:
        """Whether a seek can be paired now; one that cannot does not keep others waiting."""
        other, blocks = offer.account, self.hall.blocks
        blocked = blocks.has_blocked(account, other) or blocks.has_blocked(other, account)
        return other.number != account.number and not blocked and self.hall.can_play(other, offer.terms)

    def _must_be_here(self, account: Account) -> None:
        """Refuse the offer of somebody who has left since they asked: nobody would take it back."""
        if account.number not in self.hall.present:
            raise ClubError("absent", "you have left: come back and try again")

    async def _rating(self, account: Account, terms: GameTerms) -> Rating:
        pool = pool_of(terms.game, terms.control)
        return await self.hall.store.fetch(partial(rating_of, account=account.number, pool=pool))

    def view(self) -> Message:
        """What everybody may see: offers to all, the games that are played, and who is here."""
        if self._seen is not None:
            return self._seen
        playing = [
            {"game": seat.table.number, "kind": str(seat.table.game), "players": [each.name for each in seat.people]}
            for seat in _last(self.hall.seats)
        ]
        seeks = [offer.view() for offer in _last(self.seeks)]
        members = [next(iter(guests)).member.name for guests in islice(self.hall.present.values(), NAMED)]
        self._seen = {"seeks": seeks, "games": playing, "here": len(self.hall.present), "members": members}
        return self._seen

    def change(self) -> None:
        """Something that everybody may see is new."""
        self._news, self._seen = True, None

    def tell(self) -> None:
        """Tell those who are curious what is new."""
        if self._news:
            self._news, message = False, EncodedMessage(type="lobby", **self.view())
            for guest in [each for each in self.hall.guests if each.curious]:
                guest.send(message)


def _last(things: dict[int, Thing]) -> list[Thing]:
    """The things that were added last, the newest at the end."""
    return list(islice(reversed(things.values()), NAMED))[::-1]
