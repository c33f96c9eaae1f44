/** Setting up a position by hand. */
import { indexOf } from "./effects.js";
import { GAMES } from "./game.js";

const PITS = "ABCDEFabcdef";

/** What a click can do: put down a black disc, a white one or none; add a seed or take one. */
export const pensOf = (board) => ("cells" in board ? ["X", "O", "-"] : ["add", "take"]);

/** A position that is being changed; `pen` is what a click does. */
export class Editor {
  constructor(game, view) {
    this.game = game;
    this.board = structuredClone(view.board);
    this.side = view.side;
    [this.pen] = pensOf(this.board);
  }

  /** Change what lies at a cell by the pen; the other button takes away. */
  change(cell, button) {
    if ("cells" in this.board) this.putDisc(cell, button);
    else this.putSeed(cell, button === 2 || this.pen === "take" ? -1 : 1);
  }

  putDisc(square, button) {
    const cells = [...this.board.cells];
    const place = indexOf(square, this.board.size);
    const wanted = button === 2 ? "-" : this.pen;
    cells[place] = cells[place] === wanted ? "-" : wanted;
    this.board = { ...this.board, cells: cells.join("") };
  }

  putSeed(cell, more) {
    if (more > 0 && this.inHand <= 0) return;
    const store = ["south", "north"].indexOf(cell);
    const [list, place] = store >= 0 ? [this.board.taken, store] : [this.board.pits, PITS.indexOf(cell)];
    list[place] = Math.max(0, list[place] + more);
  }

  /** Seeds that are still to be put somewhere. */
  get inHand() {
    const { pits, taken } = this.board;
    return GAMES[this.game].points - [...pits, ...taken].reduce((sum, seeds) => sum + seeds, 0);
  }

  /** An empty board. */
  clear() {
    if ("cells" in this.board) this.board = { ...this.board, cells: "-".repeat(this.board.size ** 2) };
    else this.board = { pits: Array(12).fill(0), taken: [0, 0] };
  }

  /** The usual start. */
  reset() {
    const { start } = GAMES[this.game];
    const seeds = start.split("-").map(Number);
    this.board = "cells" in this.board ? { ...this.board, cells: start.split(" ")[0] } : { pits: seeds.slice(0, 12), taken: seeds.slice(12, 14) };
    this.side = 0;
  }

  /** The position as text, as links and the server write it. */
  format() {
    if ("cells" in this.board) return `${this.board.cells} ${"XO"[this.side]}`;
    return [...this.board.pits, ...this.board.taken, "SN"[this.side]].join("-");
  }
}
