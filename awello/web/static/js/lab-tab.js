/** The lab tab: contests between bots, and search trees. */
import "./contest-manager.js";
import "./search-tree.js";
import { h, listen } from "./dom.js";
import { t } from "./i18n.js";
import { openContestGame } from "./import-dialog.js";
import { listPlayerSpecs } from "./opponents.js";
import { api } from "./server.js";
import { state } from "./store.js";

export class LabTab {
  /** @type {Topic[]} */
  static topics = ["game", "tab", "availablePlayers"];

  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.contests = document.createElement("contest-manager");
    this.tree = document.createElement("search-tree");
    listen(this.contests, "replay", openContestGame);
    this.offered = ""; // the variant and players of the form
    /** @type {GameNode | null} */
    this.current = null;
    this.box.replaceChildren(
      h("h2", {}, t("contest.title")), this.contests,
      h("h2", {}, t("tree.title")), this.tree,
    );
  }

  update() {
    const { game } = state;
    if (this.box.hidden) return;
    const players = [...listPlayerSpecs(game.variant, state.availablePlayers), ...game.rules.opponents];
    const offered = [game.variant, ...players].join();
    if (this.offered !== offered) {
      this.offered = offered;
      this.contests.config = { variant: game.variant, players, api };
    }
    if (this.current !== game.current) {
      this.current = game.current;
      this.tree.config = { request: game.toRequest(), api };
    }
  }
}
