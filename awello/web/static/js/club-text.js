/** Texts of the club: time controls, game terms, ratings, dates and errors. */
import { RULES } from "./game.js";
import { currentLanguage, formatDate, formatSigned, pluralKey, t, translateError } from "./i18n.js";
import { formatError } from "./notices.js";

export const MIN_PASSWORD_CHARS = 10; // as on the server
const DAY_SECONDS = 86400;

/** A time control, such as "5 min + 3 s per move". @param {TimeControl} given */
export function formatTimeControl({ seconds, increment }) {
  if (seconds % 60) return t(increment ? "play.clock.seconds.increment" : "play.clock.seconds", { seconds, increment });
  return t(increment ? "play.clock.minutes.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** The terms of a game, such as "Othello · 5 min · rated". @param {Terms} given */
export function formatTerms({ variant, control, rated }) {
  return [t(`game.${variant}`), formatTimeControl(control), t(rated ? "club.rated" : "club.unrated")].join(" · ");
}

/** The terms of a tournament's games. @param {Terms} given */
export function formatTournamentTerms({ variant, control, rated }) {
  return [t(`game.${variant}`), formatTimeControl(control), t(rated ? "club.tournament.rated" : "club.tournament.unrated")].join(" · ");
}

/**
 * A pairing system, such as "Swiss, 5 rounds"; a round robin has a number of rounds once it has started.
 * @param {Tournament} given
 */
export function formatSystem({ system, rounds }) {
  return t(`club.system.${system}`) + (rounds ? `, ${t(`club.rounds.${pluralKey(rounds)}`, { rounds })}` : "");
}

/** A local date and time, with the year if it is not the current one. @param {number} seconds */
export function formatDateTime(seconds) {
  const date = new Date(1000 * seconds);
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return formatDate(date, { year, month: "short", day: "numeric", weekday: "short", hour: "2-digit", minute: "2-digit" });
}

/** The time left, such as "in 1:02:03" or "in 3 days". @param {number} seconds */
export function formatCountdown(seconds) {
  if (seconds <= 0) return t("club.starts.now");
  if (seconds >= 2 * DAY_SECONDS) return new Intl.RelativeTimeFormat(currentLanguage()).format(Math.floor(seconds / DAY_SECONDS), "day");
  const left = Math.ceil(seconds);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  return t("club.starts.in", { time: `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}` });
}

/** A rating, with a question mark if it is provisional. @param {Rating} given */
export const formatRating = ({ rating, established }) => `${rating}${established ? "" : "?"}`;

/** A player's name with the rating, marked if it is a bot. @param {ClubPlayerState} given */
export function formatPlayer({ name, bot, ...rating }) {
  return `${name} (${formatRating(rating)})${bot ? ` · ${t("club.bot")}` : ""}`;
}

/** The name of a side in a variant. @param {string} variant @param {number} side */
export const clubSideName = (variant, side) => t(`side.${RULES[variant].family}.${side}`);

/** A rating change, such as "1500 → 1612 (+112)". @param {ClubPlayerState} given */
export const formatRatingChange = ({ rating, rating_after: after }) => `${rating} → ${after} (${formatSigned((after ?? rating) - rating)})`;

/** The text of an error of the club in the user's language. @param {ErrorInfo} error */
export const formatClubError = (error) => translateError(`club.error.${error.code}`, error) ?? formatError(error);
