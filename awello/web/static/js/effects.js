/** The board after a move whose effect the server told in advance, so that a click shows at once. */

const PITS = "ABCDEFabcdef";
const COLUMNS = "abcdefgh";

/** The place of a square such as f5 in the text of the cells. */
export const indexOf = (square, size) => (Number(square[1]) - 1) * size + COLUMNS.indexOf(square[0]);

/** What is known of the position after a move before the server has answered: the board, and nothing to play. */
export function foresee(view, move) {
  const effect = view.moves[move];
  const board = "cells" in view.board ? turnDiscs(view, move, effect) : sowSeeds(view, move, effect);
  const empty = { moves: {}, refused: {}, over: false, score: null, winner: null, ending: "", opening: null };
  return { ...empty, provisional: true, side: 1 - view.side, board, holdings: holdings(board) };
}

function turnDiscs(view, move, effect) {
  const cells = [...view.board.cells];
  for (const square of move === "pass" ? [] : [move, ...effect.flips]) {
    cells[indexOf(square, view.board.size)] = "XO"[view.side];
  }
  return { size: view.board.size, cells: cells.join("") };
}

function sowSeeds(view, move, effect) {
  const pits = [...view.board.pits];
  const taken = [...view.board.taken];
  pits[PITS.indexOf(move)] = 0;
  for (const pit of effect.sown) pits[PITS.indexOf(pit)] += 1;
  for (const [pit, seeds] of effect.captured) {
    pits[PITS.indexOf(pit)] = 0;
    taken[view.side] += seeds;
  }
  return { pits, taken };
}

function holdings(board) {
  if ("taken" in board) return board.taken;
  return ["X", "O"].map((disc) => [...board.cells].filter((cell) => cell === disc).length);
}
