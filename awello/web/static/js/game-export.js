/** Exports the game on the board to a file. */
import { recordedNames } from "./archive-save.js";
import { api } from "./server.js";

/** The file extension of each format. */
/** @type {Record<string, string>} */
export const FILE_EXTENSIONS = { ggf: ".ggf", ogn: ".ogn", transcripts: ".txt", logbook: ".gam", wthor: ".zip" };

/** Whether a format supports the game. @param {string} format @param {Game} given */
export function supportsFormat(format, { variant, family, start }) {
  if (format === "ggf") return family === "othello";
  if (format === "ogn") return family === "awale";
  return format === "transcripts" || (variant === "othello" && !start);
}

/**
 * The loss as stored in files: draws are omitted, and losses except by resignation or on time become forfeits.
 * @param {GameNode["result"]} result
 */
function lossForFile(result) {
  if (!result || result.loser === null) return null;
  return ["resigned", "time"].includes(result.reason) ? result : { ...result, reason: "forfeit" };
}

/**
 * Export the line through the current position, up to its end, in a format, with all known metadata.
 * @param {Game} game
 * @param {string} format
 */
export function exportGame(game, format) {
  const { tip } = game.current;
  const seconds = tip.path.slice(1).map((node) => node.seconds);
  const opened = game.saved?.moves === tip.moves.join(" ") ? game.saved.tags : null; // unless the game was continued
  return api("POST", "/api/export", {
    ...game.toRequest(tip),
    format,
    players: game.playerNames ?? (game.started ? recordedNames(game) : [null, null]),
    started: game.started,
    seconds: seconds.some((time) => time !== null) ? seconds.map((time) => time && Math.max(0, Math.round(1000 * time) / 1000)) : [],
    loss: lossForFile(tip.result),
    tags: opened ?? {},
  });
}
