/** Games that were played here to their end are saved in the archive of the server, each once. */
import { PERSON } from "./game.js";
import { problemWords } from "./notices.js";
import { api } from "./server.js";
import { settings } from "./settings.js";
import { changed } from "./store.js";

const NOBODY = "guest";

/** Save a game once it has been played to its end; `game.kept` has the outcome. @param {Game} game */
export async function saveGame(game) {
  if (!settings.archive || !game?.at.over || game.at.view.provisional || game.kept || !wasPlayed(game)) return;
  game.kept = { moves: game.at.moves.join(" ") };
  try {
    Object.assign(game.kept, await api("POST", "/api/games", message(game)));
  } catch (error) {
    if (error.code !== "no_archive") game.kept.problem = problemWords(error);
  }
  changed("archive");
}

/**
 * Whether the line to the present position was played here from its start: people and programs made their own moves.
 * @param {Game} given
 */
function wasPlayed({ begun, at }) {
  return Boolean(begun) && at.path.slice(1).every((node) => node.seconds !== null);
}

/** @param {Game} game */
function message(game) {
  const { at } = game;
  const seconds = at.path.slice(1).map((node) => Math.max(0, Math.round(1000 * (node.seconds ?? 0)) / 1000));
  return { ...game.question(), players: namesOf(game), started: game.begun, seconds, result: at.result };
}

/** The players' names: a program's spec, and the person's own name where one person plays. @param {Game} given */
export function namesOf({ seats }) {
  const alone = seats.filter((seat) => seat === PERSON).length === 1;
  return seats.map((seat) => (seat === PERSON ? (alone && settings.name.trim()) || NOBODY : seat));
}
