/** Loads positions from the server. */
import { api } from "./server.js";

/** Load all positions of a game, the main line first. @param {Game} game */
export async function loadGamePositions(game) {
  await loadLinePositions(game, game.current.tip);
  for (const leaf of leaves(game.root)) await loadLinePositions(game, leaf);
}

/**
 * Load the missing positions on the path to a node.
 * @param {Game} game
 * @param {GameNode} node
 */
export async function loadLinePositions(game, node) {
  const { path } = node;
  const firstPly = path.findIndex((each) => !each.position || each.position.provisional);
  if (firstPly < 0) return;
  const { positions } = await api("POST", "/api/positions", { ...game.toRequest(node), first_ply: firstPly });
  positions.forEach((/** @type {Position} */ position, /** @type {number} */ index) => {
    path[firstPly + index].position = position;
  });
}

/** @param {GameNode} node @returns {Generator<GameNode>} */
function* leaves(node) {
  if (!node.children.length) yield node;
  for (const child of node.children) yield* leaves(child);
}
