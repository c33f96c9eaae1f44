/** Predicts the board after a move from its known effect, so that a click is shown immediately. */

const PITS = "ABCDEFabcdef";
const COLUMNS = "abcdefgh";

/** The index of a square such as f5 in the cells. @param {string} square @param {number} size */
export const squareIndex = (square, size) => (Number(square[1]) - 1) * size + COLUMNS.indexOf(square[0]);

/**
 * The provisional position after a move: the board, without legal moves.
 * @param {Position} position
 * @param {string} move
 * @returns {Position}
 */
export function predictMove(position, move) {
  const effect = position.moves[move];
  const board = "cells" in position.board ? flipDiscs(position.board, position.side, move, effect) : sowSeeds(position.board, position.side, move, effect);
  const empty = { moves: {}, illegal_pits: {}, over: false, score: null, winner: null, end_reason: "", opening: null };
  return { ...empty, provisional: true, side: 1 - position.side, board, counts: countPieces(board) };
}

/** @param {OthelloPosition} board @param {number} side @param {string} move @param {Effect} effect */
function flipDiscs({ size, cells: before }, side, move, effect) {
  const cells = [...before];
  for (const square of move === "pass" ? [] : [move, ...effect.flips]) {
    cells[squareIndex(square, size)] = "XO"[side];
  }
  return { size, cells: cells.join("") };
}

/** @param {AwalePosition} board @param {number} side @param {string} move @param {Effect} effect */
function sowSeeds(board, side, move, effect) {
  const pits = [...board.pits];
  const captured = [...board.captured];
  pits[PITS.indexOf(move)] = 0;
  for (const pit of effect.sown) pits[PITS.indexOf(pit)] += 1;
  for (const [pit, seeds] of effect.captured) {
    pits[PITS.indexOf(pit)] = 0;
    captured[side] += seeds;
  }
  return { pits, captured };
}

/** @param {Board} board */
function countPieces(board) {
  if ("captured" in board) return board.captured;
  return ["X", "O"].map((disc) => [...board.cells].filter((cell) => cell === disc).length);
}
