/** The way into the club: log in, or open an account. */
import { h } from "./dom.js";
import { clubProblem, SHORTEST_PASSWORD } from "./club-words.js";
import { t } from "./words.js";

export class ClubEntrance {
  constructor(club) {
    this.club = club;
    this.fresh = false; // whether an account is to be opened
    this.element = h("section", { class: "club-entrance" });
    this.build();
  }

  build() {
    const key = this.fresh ? "signup" : "login";
    this.name = h("input", { id: "club-name", name: "username", autocomplete: "username", autocapitalize: "off", spellcheck: false, maxLength: 20, required: true, "aria-describedby": "club-problem" });
    this.password = h("input", { id: "club-password", name: "password", type: "password", autocomplete: this.fresh ? "new-password" : "current-password", maxLength: 200, required: true, "aria-describedby": "club-problem club-password-help" });
    this.problem = h("p", { id: "club-problem", class: "bad", role: "alert" });
    this.send = h("button", { id: "club-enter", class: "primary" }, t(`club.${key}`));
    this.element.replaceChildren(
      h("h2", {}, t(`club.${key}`)),
      h("p", { class: "soft" }, t("club.entrance.about")),
      h("form", { onsubmit: (event) => this.submit(event) },
        h("div", { class: "row" }, h("label", { htmlFor: "club-name" }, t("club.name")), this.name),
        h("div", { class: "row" }, h("label", { htmlFor: "club-password" }, t("club.password")), this.password),
        h("p", { id: "club-password-help", class: "soft", hidden: !this.fresh }, t("club.password.help", { count: SHORTEST_PASSWORD })),
        this.problem,
        h("div", { class: "buttons" }, this.send, h("button", { id: "club-other", type: "button", onclick: () => this.change() }, t(this.fresh ? "club.login.instead" : "club.signup.instead")))));
  }

  /** From one form to the other, with what was written already. */
  change() {
    const name = this.name.value;
    this.fresh = !this.fresh;
    this.build();
    this.name.value = name;
    this.name.focus();
  }

  async submit(event) {
    event.preventDefault();
    this.problem.textContent = "";
    this.send.disabled = true;
    try {
      await this.club.logIn(this.name.value.trim(), this.password.value, this.fresh);
      this.password.value = "";
      document.getElementById("club-view-lobby").focus();
    } catch (error) {
      this.problem.textContent = clubProblem(error, { count: SHORTEST_PASSWORD });
      (error.code === "name" || error.code === "taken" ? this.name : this.password).focus();
    } finally {
      this.send.disabled = false;
    }
  }
}
