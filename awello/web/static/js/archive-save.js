/** Saves finished games in the server's archive, each once. */
import { HUMAN } from "./game.js";
import { t } from "./i18n.js";
import { formatError } from "./notices.js";
import { api } from "./server.js";
import { settings } from "./settings.js";
import { notifyChange } from "./store.js";

/** Save a finished game, and store the number of the saved game, or the error, in `game.saved`. @param {Game} game */
export async function saveGame(game) {
  if (!settings.saveGames || !game?.current.over || game.current.position.provisional || game.saved || !wasPlayedHere(game)) return;
  game.saved = { moves: game.current.moves.join(" ") };
  try {
    Object.assign(game.saved, await api("POST", "/api/games", toArchiveRequest(game)));
  } catch (error) {
    if (error.code !== "no_archive") game.saved.error = formatError(error);
  }
  notifyChange("archive");
}

/**
 * Whether all moves up to the current position were played here, by humans and bots.
 * @param {Game} given
 */
function wasPlayedHere({ started, current }) {
  return Boolean(started) && current.path.slice(1).every((node) => node.seconds !== null);
}

/** @param {Game} game */
function toArchiveRequest(game) {
  const { current } = game;
  const seconds = current.path.slice(1).map((node) => Math.max(0, Math.round(1000 * (node.seconds ?? 0)) / 1000));
  return { ...game.toRequest(), players: recordedNames(game), started: game.started, seconds, loss: current.result };
}

/** The player names for the archive: a bot's spec, or the user's name in a game against a bot. @param {Game} given */
export function recordedNames({ players }) {
  const alone = players.filter((player) => player === HUMAN).length === 1;
  return players.map((player) => (player === HUMAN ? (alone && settings.name.trim()) || t("settings.name.none") : player));
}
