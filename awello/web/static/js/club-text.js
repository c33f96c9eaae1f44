/** How the club's things are called. */
import { GAMES } from "./game.js";
import { currentLanguage, formatSigned, LANGUAGES, t } from "./i18n.js";
import { errorText } from "./notices.js";

export const MIN_PASSWORD_CHARS = 10; // letters, as the club has it
const DAY_SECONDS = 86400; // seconds

/** A time control, such as "5 min + 3 s a move". @param {TimeControl} given */
export function formatTimeControl({ seconds, increment }) {
  if (seconds % 60) return t(increment ? "club.seconds.increment" : "club.seconds", { seconds, increment });
  return t(increment ? "play.clock.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** What is played and for what, such as "Othello · 5 min · rated". @param {Terms} given */
export function formatTerms({ kind, control, rated }) {
  return [t(`game.${kind}`), formatTimeControl(control), t(rated ? "club.rated" : "club.casual")].join(" · ");
}

/** What is played in a tournament and for what. @param {Terms} given */
export function formatTournamentTerms({ kind, control, rated }) {
  return [t(`game.${kind}`), formatTimeControl(control), t(rated ? "club.tournament.rated" : "club.tournament.casual")].join(" · ");
}

/**
 * How a tournament is paired, such as "Swiss, 5 rounds"; a round robin knows its rounds when it has begun.
 * @param {Tournament} given
 */
export function formatSystem({ system, rounds }) {
  return t(`club.system.${system}`) + (rounds ? `, ${t(rounds === 1 ? "club.rounds.one" : "club.rounds", { rounds })}` : "");
}

/** A moment as the clock on the wall here shows it, with its year if it is another one. @param {number} seconds */
export function formatDateTime(seconds) {
  const moment = new Date(1000 * seconds);
  const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return new Intl.DateTimeFormat(currentLanguage(), { year, month: "short", day: "numeric", weekday: "short", hour: "2-digit", minute: "2-digit" }).format(moment);
}

/** How long it is until then, such as "in 1:02:03" or "in 3 days". @param {number} seconds */
export function formatCountdown(seconds) {
  if (seconds <= 0) return t("club.starting");
  if (seconds >= 2 * DAY_SECONDS) return new Intl.RelativeTimeFormat(currentLanguage()).format(Math.floor(seconds / DAY_SECONDS), "day");
  const left = Math.ceil(seconds);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  return t("club.in", { time: `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}` });
}

/** A rating; one that is not sure yet has a question mark. @param {Rating} given */
export const formatRating = ({ rating, sure }) => `${rating}${sure ? "" : "?"}`;

/** A player with the rating, and whether it is a program. @param {ClubPlayerState} given */
export function formatPlayer({ name, program, ...worth }) {
  return `${name} (${formatRating(worth)})${program ? ` · ${t("club.bot")}` : ""}`;
}

/** The name of a side. @param {string} kind @param {number} side */
export const clubSideName = (kind, side) => t(`side.${GAMES[kind].family}.${side}`);

/** What a game did to a rating, such as "1500 → 1612 (+112)". @param {ClubPlayerState} given */
export const formatRatingChange = ({ rating, after }) => `${rating} → ${after} (${formatSigned((after ?? rating) - rating)})`;

/**
 * What went wrong: in the person's language where the club's code is known.
 * @param {Problem} error
 * @param {object} [values]
 */
export function clubErrorText(error, values = {}) {
  const key = `club.error.${error.code}`;
  return key in LANGUAGES.en ? t(key, { message: error.message, minutes: error.minutes, ...values }) : errorText(error);
}
