/** The panel of the laboratory: contests of programs, and the tree of a search. */
import "./lab-panel.js";
import "./tree-panel.js";
import { h, listen } from "./dom.js";
import { replay } from "./import-dialog.js";
import { programsFor } from "./levels.js";
import { api } from "./server.js";
import { state } from "./store.js";
import { t } from "./words.js";

export class LabTab {
  /** @type {Topic[]} */
  static shows = ["game", "tab", "players"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.contest = document.createElement("lab-panel");
    this.tree = document.createElement("tree-panel");
    listen(this.contest, "replay", replay);
    this.offered = ""; // the game and the players of the form
    /** @type {GameNode | null} */
    this.at = null;
    this.box.replaceChildren(
      h("h2", {}, t("lab.title")), this.contest,
      h("h2", {}, t("tree.title")), this.tree,
    );
  }

  update() {
    const { game } = state;
    if (this.box.hidden) return;
    const players = [...programsFor(game.game, state.players), ...game.rules.opponents];
    const offered = [game.game, ...players].join();
    if (this.offered !== offered) {
      this.offered = offered;
      this.contest.config = { game: game.game, players, api };
    }
    if (this.at !== game.at) {
      this.at = game.at;
      this.tree.config = { line: game.question(), api };
    }
  }
}
