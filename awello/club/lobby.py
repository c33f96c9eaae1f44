"""The lobby: seeks, challenges, and the lists of games and players that all clients can see."""

from functools import partial
from itertools import count, islice
from typing import TYPE_CHECKING, TypeVar

from awello.club.accounts import Account, find_account
from awello.club.game_state import ClubError
from awello.club.indexed_collection import IndexedCollection
from awello.club.live_game import ClientConnection, EncodedMessage
from awello.club.offers import GameTerms, Message, Offer
from awello.club.rating import Rating, pool_of
from awello.club.stored_games import load_rating

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MAX_SEEKS_PER_ACCOUNT, MAX_CHALLENGES_PER_ACCOUNT = 5, 10  # offers open at the same time
MAX_INCOMING_CHALLENGES = 50  # unanswered challenges to one account, all of which are sent when the account connects
MAX_LISTED = 100  # entries in each list: players, seeks and games

Item = TypeVar("Item")


def player_offline_error(name: str) -> ClubError:
    """Return the error for a challenge or rematch offer to a player who is not online."""
    message = f"{name} is not online: challenge another player, or create a seek"
    return ClubError("player_offline", message, name=name)


class Lobby:
    """The open seeks and challenges."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self.seeks: IndexedCollection[Offer] = IndexedCollection(lambda offer: offer.index_keys)
        self.challenges: IndexedCollection[Offer] = IndexedCollection(lambda offer: offer.index_keys)
        self._changed = False  # whether the lobby has changed since the last broadcast
        self._cached: Message | None = None  # the result of `to_json`, until the lobby changes
        self._numbers = count(1)

    async def seek(self, client: ClientConnection, terms: GameTerms) -> Message:
        """Start a game if there is a matching seek, else create a seek."""
        account = client.require_account()
        terms.validate()
        rating = await self._load_rating(account, terms)
        self._require_online(account)
        self.server.check_can_play(account, terms)
        for offer in self.seeks.with_key(terms.pairing_key):
            if offer.terms.matches(terms) and self._can_pair(account, offer):
                return await self._start_offered_game(account, offer, terms.side)
        if len(self.seeks.with_key(("by", account.id))) >= MAX_SEEKS_PER_ACCOUNT:
            raise ClubError(
                "too_many_seeks",
                f"you already have {MAX_SEEKS_PER_ACCOUNT} open seeks: withdraw one",
                limit=MAX_SEEKS_PER_ACCOUNT,
            )
        offer = Offer(next(self._numbers), account, terms, None, rating)
        self.seeks.add(offer.number, offer)
        self.mark_changed()
        return {"seek": offer.number}

    async def accept(self, client: ClientConnection, number: int) -> Message:
        """Accept a seek or a challenge."""
        account = client.require_account()
        offer = self.seeks.get(number) or self.challenges.get(number)
        hidden = (
            offer is not None and offer.recipient is None and self.server.blocks.has_blocked(offer.account, account)
        )
        if offer is None or hidden or (offer.recipient and offer.recipient.id != account.id):
            raise ClubError(
                "offer_gone",
                f"offer {number} is not available (it may have been withdrawn or accepted): choose another offer",
                number=number,
            )
        if offer.account.id == account.id:
            raise ClubError("own_offer", f"offer {number} is your own offer: wait for another player", number=number)
        self.server.check_can_play(account, offer.terms)
        return await self._start_offered_game(account, offer, None)

    async def challenge(self, client: ClientConnection, name: str, terms: GameTerms) -> Message:
        """Challenge a player who is online."""
        account = client.require_account()
        terms.validate()
        other = await self.server.store.read(partial(find_account, name=name))
        rating = await self._load_rating(account, terms)
        self._require_online(account)
        self.server.check_can_play(account, terms)
        if other is None or other.id not in self.server.online:
            raise player_offline_error(name)
        if other.id == account.id:
            raise ClubError("challenge_self", "you cannot challenge yourself: give the name of another player")
        self.server.blocks.require_not_blocked(other, account)
        if len(self.challenges.with_key(("by", account.id))) >= MAX_CHALLENGES_PER_ACCOUNT:
            message = f"you have already sent {MAX_CHALLENGES_PER_ACCOUNT} unanswered challenges: withdraw one"
            raise ClubError("too_many_challenges", message, limit=MAX_CHALLENGES_PER_ACCOUNT)
        if len(self.challenges.with_key(("to", other.id))) >= MAX_INCOMING_CHALLENGES:
            limit = MAX_INCOMING_CHALLENGES
            message = f"{other.name} already has {limit} unanswered challenges: create a seek instead"
            raise ClubError("too_many_incoming_challenges", message, name=other.name, limit=limit)
        offer = Offer(next(self._numbers), account, terms, other, rating)
        self.challenges.add(offer.number, offer)
        self.server.send_to_account(other.id, {"type": "challenge", **offer.to_json()})
        return {"challenge": offer.number}

    async def decline(self, client: ClientConnection, number: int) -> Message:
        """Withdraw the account's own offer, or decline a challenge to the account."""
        account = client.require_account()
        offer = self.seeks.get(number) or self.challenges.get(number)
        mine = offer is not None and account.id in (
            offer.account.id,
            offer.recipient.id if offer.recipient else None,
        )
        if offer is None or not mine:
            message = f"offer {number} is not open, or you can neither withdraw nor decline it: choose another offer"
            raise ClubError("not_your_offer", message, number=number)
        self._remove(offer)
        if offer.recipient:
            self._notify_declined(offer.recipient if offer.account.id == account.id else offer.account, offer, account)
        return {}

    async def _start_offered_game(self, account: Account, offer: Offer, side: int | None) -> Message:
        """Remove an offer, so that it is accepted only once, and start its game.

        `account` is the player who accepts the offer, and `side` the side that this player wants, or None.  If neither
        player wants a particular side, the sides are random.
        """
        self.server.check_can_play(offer.account, offer.terms)
        self._remove(offer)
        side_of_offer = offer.terms.side if offer.terms.side is not None else None if side is None else 1 - side
        first = self.server.random.randrange(2) if side_of_offer is None else side_of_offer
        accounts = (offer.account, account) if first == 0 else (account, offer.account)
        return await self.server.start_game(accounts, offer.terms)

    def withdraw_all(self, account: Account) -> None:
        """Withdraw all offers of an account."""
        mine = "by", account.id
        for offer in self.seeks.with_key(mine) + self.challenges.with_key(mine):
            self._remove(offer)
            if offer.recipient:
                self._notify_declined(offer.recipient, offer, account)

    def decline_all(self, account: Account, other: Account) -> None:
        """Decline all challenges from `account` to `other`."""
        for offer in self.challenges.with_key(("by", account.id)):
            if offer.recipient == other:
                self._remove(offer)
                self._notify_declined(account, offer, other)

    def _remove(self, offer: Offer) -> None:
        if offer.recipient:
            self.challenges.remove(offer.number)
        else:
            self.seeks.remove(offer.number)
            self.mark_changed()

    def _notify_declined(self, account: Account, offer: Offer, by: Account) -> None:
        self.server.send_to_account(account.id, {"type": "declined", "number": offer.number, "by": by.name})

    def _can_pair(self, account: Account, offer: Offer) -> bool:
        """Return whether an account can be paired with the player of a seek now."""
        other, blocks = offer.account, self.server.blocks
        blocked = blocks.has_blocked(account, other) or blocks.has_blocked(other, account)
        return other.id != account.id and not blocked and self.server.can_play(other, offer.terms)

    def _require_online(self, account: Account) -> None:
        """Raise `ClubError` if an account has just disconnected, since its offer would then never be withdrawn."""
        if account.id not in self.server.online:
            raise ClubError("disconnected", "you are disconnected: reconnect and try again")

    async def _load_rating(self, account: Account, terms: GameTerms) -> Rating:
        pool = pool_of(terms.game, terms.control)
        return await self.server.store.read(partial(load_rating, account=account.id, pool=pool))

    def to_json(self) -> Message:
        """Return the lobby in the form that clients receive."""
        if self._cached is not None:
            return self._cached
        playing = [
            {
                "game": live_game.state.number,
                "variant": str(live_game.state.game),
                "players": [each.name for each in live_game.accounts],
            }
            for live_game in _newest(self.server.live_games)
        ]
        seeks = [offer.to_json() for offer in _newest(self.seeks)]
        names = [
            next(iter(clients)).require_account().name for clients in islice(self.server.online.values(), MAX_LISTED)
        ]
        self._cached = {"seeks": seeks, "games": playing, "online": names, "online_count": len(self.server.online)}
        return self._cached

    def mark_changed(self) -> None:
        """Record that the lobby has changed."""
        self._changed, self._cached = True, None

    def broadcast(self) -> None:
        """Send the lobby to its subscribers if it has changed."""
        if self._changed:
            self._changed, message = False, EncodedMessage(type="lobby", **self.to_json())
            for client in [each for each in self.server.clients if each.lobby_updates]:
                client.send(message)


def _newest(items: dict[int, Item]) -> list[Item]:
    """Return the `MAX_LISTED` items that were added last, oldest first."""
    return list(islice(reversed(items.values()), MAX_LISTED))[::-1]
