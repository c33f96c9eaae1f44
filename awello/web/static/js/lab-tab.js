/** The panel of the laboratory: contests of programs, and the tree of a search. */
import "./lab-panel.js";
import "./tree-panel.js";
import { replay } from "./bring-in.js";
import { h } from "./dom.js";
import { levelsOf, programsFor } from "./levels.js";
import { api } from "./server.js";
import { t } from "./words.js";

export class LabTab {
  constructor(app, box) {
    this.app = app;
    this.box = box;
    this.build();
  }

  build() {
    this.contest = document.createElement("lab-panel");
    this.tree = document.createElement("tree-panel");
    this.contest.addEventListener("replay", (event) => replay(this.app, event.detail));
    this.game = null;
    this.at = null;
    this.box.replaceChildren(
      h("h2", {}, t("lab.title")), this.contest,
      h("h2", {}, t("tree.title")), this.tree,
    );
  }

  update() {
    const { game } = this.app.table;
    if (this.box.hidden) return;
    if (this.game !== game.game) {
      this.game = game.game;
      const players = [...programsFor(game.game, this.app.players), ...levelsOf(game.family)];
      this.contest.config = { game: game.game, players, api };
    }
    if (this.at !== game.at) {
      this.at = game.at;
      this.tree.config = { line: game.question(), api };
    }
  }
}
