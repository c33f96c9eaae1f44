/** How the club's things are called. */
import { GAMES } from "./game.js";
import { problemWords } from "./notices.js";
import { currentLanguage, LANGUAGES, signed, t } from "./words.js";

export const SHORTEST_PASSWORD = 10; // letters, as the club has it
const DAY = 86400; // seconds

/** A time control, such as "5 min + 3 s a move". @param {TimeControl} given */
export function controlWords({ seconds, increment }) {
  if (seconds % 60) return t(increment ? "club.seconds.increment" : "club.seconds", { seconds, increment });
  return t(increment ? "play.clock.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** What is played and for what, such as "Othello · 5 min · rated". @param {Terms} given */
export function termsWords({ variant, control, rated }) {
  return [t(`game.${variant}`), controlWords(control), t(rated ? "club.rated" : "club.casual")].join(" · ");
}

/** What is played in a tournament and for what. @param {Terms} given */
export function tournamentWords({ variant, control, rated }) {
  return [t(`game.${variant}`), controlWords(control), t(rated ? "club.tournament.rated" : "club.tournament.casual")].join(" · ");
}

/**
 * How a tournament is paired, such as "Swiss, 5 rounds"; a round robin knows its rounds when it has begun.
 * @param {Tournament} given
 */
export function systemWords({ system, rounds }) {
  return t(`club.system.${system}`) + (rounds ? `, ${t(rounds === 1 ? "club.rounds.one" : "club.rounds", { rounds })}` : "");
}

/** A moment as the clock on the wall here shows it, with its year if it is another one. @param {number} seconds */
export function startWords(seconds) {
  const moment = new Date(1000 * seconds);
  const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return new Intl.DateTimeFormat(currentLanguage(), { year, month: "short", day: "numeric", weekday: "short", hour: "2-digit", minute: "2-digit" }).format(moment);
}

/** How long it is until then, such as "in 1:02:03" or "in 3 days". @param {number} seconds */
export function untilWords(seconds) {
  if (seconds <= 0) return t("club.starting");
  if (seconds >= 2 * DAY) return new Intl.RelativeTimeFormat(currentLanguage()).format(Math.floor(seconds / DAY), "day");
  const left = Math.ceil(seconds);
  /** @param {number} number */
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor(left / 60) % 60;
  return t("club.in", { time: `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}` });
}

/** A rating; one that is not sure yet has a question mark. @param {Rating} given */
export const ratingWords = ({ rating, established }) => `${rating}${established ? "" : "?"}`;

/** A player with the rating, and whether it is a program. @param {ClubPlayerState} given */
export function playerWords({ name, bot, ...worth }) {
  return `${name} (${ratingWords(worth)})${bot ? ` · ${t("club.program")}` : ""}`;
}

/** The name of a side. @param {string} variant @param {number} side */
export const sideWords = (variant, side) => t(`side.${GAMES[variant].family}.${side}`);

/** What a game did to a rating, such as "1500 → 1612 (+112)". @param {ClubPlayerState} given */
export const changeWords = ({ rating, after }) => `${rating} → ${after} (${signed((after ?? rating) - rating)})`;

/** What an error says, with the name of the game in the person's language. @param {Record<string, any>} [params] */
const clubValues = (params = {}) => (params.variant ? { ...params, variant: t(`game.${params.variant}`) } : params);

/**
 * What went wrong: in the person's language where the club's code is known.
 * @param {Problem} error
 * @param {object} [values]
 */
export function clubProblem(error, values = {}) {
  const key = `club.problem.${error.code}`;
  return key in LANGUAGES.en ? t(key, { message: error.message, ...error.params, ...values }) : problemWords(error);
}
