/** The positions of a game, as the server describes them. */
import { api } from "./server.js";

/** Load all positions of a game, the main line first. @param {Game} game */
export async function loadGame(game) {
  await loadLine(game, game.at.tip);
  for (const leaf of leaves(game.root)) await loadLine(game, leaf);
}

/**
 * Load all positions on the way to a node that are not known yet.
 * @param {Game} game
 * @param {GameNode} node
 */
export async function loadLine(game, node) {
  const { path } = node;
  const since = path.findIndex((here) => !here.view || here.view.provisional);
  if (since < 0) return;
  const { positions } = await api("POST", "/api/positions", { ...game.question(node), since });
  positions.forEach((/** @type {View} */ view, /** @type {number} */ place) => {
    path[since + place].view = view;
  });
}

/** @param {GameNode} node @returns {Generator<GameNode>} */
function* leaves(node) {
  if (!node.children.length) yield node;
  for (const child of node.children) yield* leaves(child);
}
