/** The position editor. */
import { RULES } from "./game.js";
import { squareIndex } from "./move-prediction.js";

const PITS = "ABCDEFabcdef";
/** The tools: place a black disc, a white one or none; add or remove a seed. @param {Board} board */
export const toolsFor = (board) => ("cells" in board ? ["X", "O", "-"] : ["add", "remove"]);

/** A position being edited with a tool. */
export class Editor {
  /** @param {string} variant @param {Position} position */
  constructor(variant, position) {
    this.variant = variant;
    /** @type {Board} */
    this.board = structuredClone(position.board);
    this.side = position.side;
    this.tool = toolsFor(this.board)[0];
  }

  /** Change a cell with the tool; the right button removes. @param {string} cell @param {number} button */
  change(cell, button) {
    if ("cells" in this.board) this.putDisc(this.board, cell, button);
    else this.putSeed(this.board, cell, button === 2 || this.tool === "remove" ? -1 : 1);
  }

  /** @param {OthelloPosition} board @param {string} square @param {number} button */
  putDisc({ size, cells: before }, square, button) {
    const cells = [...before];
    const index = squareIndex(square, size);
    const wanted = button === 2 ? "-" : this.tool;
    cells[index] = cells[index] === wanted ? "-" : wanted;
    this.board = { size, cells: cells.join("") };
  }

  /** @param {AwalePosition} board @param {string} cell @param {number} more */
  putSeed({ pits, captured }, cell, more) {
    if (more > 0 && this.inHand <= 0) return;
    const store = ["south", "north"].indexOf(cell);
    const [list, index] = store >= 0 ? [captured, store] : /** @type {const} */ ([pits, PITS.indexOf(cell)]);
    list[index] = Math.max(0, list[index] + more);
  }

  /** Seeds not placed yet. */
  get inHand() {
    if ("cells" in this.board) return 0;
    return RULES[this.variant].max_score - [...this.board.pits, ...this.board.captured].reduce((sum, seeds) => sum + seeds, 0);
  }

  /** Clear the board. */
  clear() {
    if ("cells" in this.board) this.board = { ...this.board, cells: "-".repeat(this.board.size ** 2) };
    else this.board = { pits: Array(12).fill(0), captured: [0, 0] };
  }

  /** Restore the start position. */
  reset() {
    const { start } = RULES[this.variant];
    const seeds = start.split("-").map(Number);
    this.board = "cells" in this.board ? { ...this.board, cells: start.split(" ")[0] } : { pits: seeds.slice(0, 12), captured: seeds.slice(12, 14) };
    this.side = 0;
  }

  /** The position in the notation of links and of the API. */
  format() {
    if ("cells" in this.board) return `${this.board.cells} ${"XO"[this.side]}`;
    return [...this.board.pits, ...this.board.captured, "SN"[this.side]].join("-");
  }
}
