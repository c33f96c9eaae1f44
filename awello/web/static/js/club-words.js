/** How the club's things are called. */
import { FAMILY } from "./game.js";
import { problemWords } from "./notices.js";
import { LANGUAGES, signed, t } from "./words.js";

/** A time control, such as "5 min + 3 s a move". */
export function controlWords({ seconds, increment }) {
  if (seconds % 60) return t(increment ? "club.seconds.increment" : "club.seconds", { seconds, increment });
  return t(increment ? "play.clock.increment" : "play.clock.minutes", { minutes: seconds / 60, increment });
}

/** What is played and for what, such as "Othello · 5 min · rated". */
export function termsWords({ kind, control, rated }) {
  return [t(`game.${kind}`), controlWords(control), t(rated ? "club.rated" : "club.casual")].join(" · ");
}

/** A rating; one that is not sure yet has a question mark. */
export const ratingWords = ({ rating, sure }) => `${rating}${sure ? "" : "?"}`;

/** A player with the rating, and whether it is a program. */
export function playerWords({ name, program, ...worth }) {
  return `${name} (${ratingWords(worth)})${program ? ` · ${t("club.program")}` : ""}`;
}

/** The name of a side. */
export const sideWords = (kind, side) => t(`side.${FAMILY[kind]}.${side}`);

/** What a game did to a rating, such as "1500 → 1612 (+112)". */
export const changeWords = ({ rating, after }) => `${rating} → ${after} (${signed(after - rating)})`;

/** What went wrong: in the person's language where the club's code is known. */
export function clubProblem(error, values = {}) {
  const key = `club.problem.${error.code}`;
  return key in LANGUAGES.en ? t(key, { message: error.message, ...values }) : problemWords(error);
}
