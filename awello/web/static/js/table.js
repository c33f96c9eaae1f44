/** The table at which a game is played: people and programs take turns, clocks run, passes are made. */
import { PERSON } from "./game.js";
import { foresee } from "./effects.js";
import { api } from "./server.js";
import { settings } from "./settings.js";
import { still } from "./dom.js";

const PASS_AFTER = 900; // milliseconds in which a pass can be noticed
const WATCHING = 700; // milliseconds between the moves of two programs

/** Events: "change" (something to draw), "move" (detail: node), "end" (of a game), "problem" (detail: error). */
export class Table extends EventTarget {
  constructor(live) {
    super();
    this.live = live;
    this.game = null;
    this.paused = false;
    this.waiting = false; // a position is set up or a move tried again: nobody is asked, no clock runs
    this.thinking = false;
    this.answered = false; // a program's move is known and waits until the last one has been shown
    this.since = 0; // the moment at which the present position came on the board
    this.cancel = () => {};
  }

  /** Sit down to a game whose positions are known. */
  set(game) {
    this.paused = false;
    this.waiting = false;
    this.game = game;
    this.arrive(false);
  }

  /** Go to a position that has been played. */
  async go(node) {
    this.rest();
    this.game.at = node;
    if (!node.view || node.view.provisional) await this.load(node);
    this.arrive(false);
  }

  /** What could not be asked for while the server was away is asked for now. */
  async goOn() {
    if (this.game?.at.view.provisional) await this.go(this.game.at);
  }

  /** A person plays a move; what it does is shown at once. */
  async play(move) {
    const { game } = this;
    const before = game.at;
    if (before.view?.provisional) await this.load(before); // until then its moves are not known
    if (game !== this.game || game.at !== before || !before.view || before.over || !(move in before.view.moves)) return;
    this.rest();
    const seconds = (performance.now() - this.since) / 1000;
    await this.make(move, game.programToMove ? null : seconds); // who moves for a program tries something out
  }

  /** Make a move that is known to be legal; `view` is the position after it, if the server has told it. */
  async make(move, seconds, view = null) {
    const { game } = this;
    const before = game.at;
    const running = this.clockRuns(before);
    const known = before.children.some((child) => child.move === move);
    if (!game.root.children.length && !game.club) game.begun = Math.floor(Date.now() / 1000);
    const node = game.play(move);
    node.view = view ?? node.view ?? foresee(before.view, move);
    if (!known) {
      node.seconds = seconds;
      node.left = running && move !== "pass" ? spend(before, seconds, game.clock) : before.left;
    }
    this.emit("move", { node });
    this.since = performance.now();
    this.emit("change");
    if (node.view.provisional && !this.asksNext(node)) await this.load(node);
    if (game === this.game && game.at === node) this.arrive(true);
  }

  async load(node) {
    try {
      await loadLine(this.game, node);
    } catch (error) {
      this.emit("problem", { error });
    }
  }

  /** Whether a program is asked for the next move: its answer tells the position too. */
  asksNext(node) {
    return this.live.online && this.game.programToMove && !node.children.length && !this.game.live && !this.paused && !this.waiting;
  }

  /** A position is on the board: whoever has to move is asked. */
  arrive(moved) {
    this.rest();
    this.since = performance.now();
    this.emit("change");
    const { game } = this;
    const { at } = game;
    if (moved && at.over) this.emit("end");
    if (at.over || game.live || this.paused || this.waiting || !at.view || (at.view.provisional && !this.asksNext(at))) return;
    if (at.children.length) return moved && this.repeatAnswer(at);
    if ("pass" in at.view.moves) this.later(PASS_AFTER, () => this.make("pass", 0));
    else if (game.programToMove) this.askProgram(moved ? this.showing(at) : 0);
  }

  /** A person played what they had played before: so does whoever answered it. */
  repeatAnswer(at) {
    const [answer] = at.children;
    if (answer.move !== "pass" && !this.game.programToMove) return;
    this.later(this.showing(at), () => this.make(answer.move, answer.seconds));
  }

  /** How long the last move is still being shown. */
  showing(node) {
    if (still() || !node.parent) return 0;
    const people = this.game.seats.includes(PERSON);
    const effect = node.parent.view.moves[node.move];
    const seeds = effect?.sown ? effect.sown.length + 2 * effect.captured.length + 1 : 0;
    return Math.max(seeds * settings.speed, people ? 320 : WATCHING);
  }

  askProgram(wait) {
    const { game } = this;
    const { at } = game;
    const ready = performance.now() + wait;
    const side = at.view.side;
    const clock = at.left ? { seconds: Math.max(0, at.left[side]), increment: game.clock.increment } : {};
    const question = { ...game.question(), player: game.seats[side], seed: (game.seed + at.ply) % 2 ** 32, ...clock };
    this.thinking = true;
    this.since = ready; // its clock does not pay for what is being shown
    const stop = this.live.follow("choose", question, (answer) => {
      if (answer.type === "position") this.learn(at, answer);
      if (answer.type === "error") this.failed(answer);
      if (answer.type !== "choice" || this.answered || game.at !== at) return; // a broken connection may tell it twice
      this.answered = true;
      this.emit("change");
      const pause = answer.move === "pass" ? PASS_AFTER : ready - performance.now();
      this.later(Math.max(0, pause), () => this.make(answer.move, answer.seconds, answer.after));
    });
    this.cancel = stop;
    this.emit("change");
  }

  /** The server has told a position that was only foreseen. */
  learn(node, { id, type, ...view }) {
    if (!node.view.provisional) return;
    node.view = view;
    if (view.over) this.arrive(true);
    else this.emit("change");
  }

  async failed(answer) {
    this.rest();
    this.paused = true;
    this.emit("problem", { error: answer });
    if (this.game.at.view.provisional) await this.load(this.game.at); // the answer would have told it
    this.emit("change");
  }

  /** Do something after a while, unless the person does something else before. */
  later(milliseconds, action) {
    const timer = setTimeout(() => {
      this.rest();
      action();
    }, milliseconds);
    this.cancel = () => clearTimeout(timer);
  }

  /** Whatever is under way is not wanted any more. */
  rest() {
    this.cancel();
    this.cancel = () => {};
    this.thinking = false;
    this.answered = false;
  }

  /** Let the programs wait, or go on. */
  pause(paused) {
    this.paused = paused;
    this.arrive(false);
  }

  /** A side gives the game up, or has no time left. */
  lose(side, reason) {
    this.rest();
    if (reason === "time") this.game.at.left = this.game.at.left.with(side, 0);
    this.game.at.result = { loser: side, reason };
    this.emit("change");
    this.emit("end");
  }

  /** Whether the clock of the present mover is running. */
  clockRuns(node = this.game.at) {
    return Boolean(this.game.clock && node.ply > 0 && !node.over && !node.children.length && !this.paused && !this.waiting && !this.answered);
  }

  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

function spend(before, seconds, clock) {
  const left = [...before.left];
  left[before.view.side] += clock.increment - seconds;
  return left;
}

/** Ask for all positions of a game, the main line first. */
export async function loadGame(game) {
  await loadLine(game, game.line.at(-1));
  for (const leaf of leaves(game.root)) await loadLine(game, leaf);
}

/** Ask for all positions on the way to a node that are not known yet. */
export async function loadLine(game, node) {
  const { path } = node;
  const since = path.findIndex((here) => !here.view || here.view.provisional);
  if (since < 0) return;
  const { views } = await api("POST", "/api/line", { ...game.question(node), since });
  views.forEach((view, place) => {
    path[since + place].view = view;
  });
}

function* leaves(node) {
  if (!node.children.length) yield node;
  for (const child of node.children) yield* leaves(child);
}
