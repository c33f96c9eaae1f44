/** Another password, on one's own profile: the old one proves who asks. */
import { clubProblem, SHORTEST_PASSWORD } from "./club-words.js";
import { h, row } from "./dom.js";
import { note } from "./notices.js";
import { t } from "./words.js";

export class ClubPassword {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.name = h("input", { name: "username", autocomplete: "username", readOnly: true, hidden: true }); // tells the browser whose it is
    this.old = h("input", { id: "password-old", type: "password", autocomplete: "current-password", maxLength: 200, required: true, "aria-describedby": "password-problem" });
    this.fresh = h("input", { id: "password-new", type: "password", autocomplete: "new-password", maxLength: 200, required: true, "aria-describedby": "password-problem password-help" });
    this.problem = h("p", { id: "password-problem", class: "bad", role: "alert" });
    this.send = h("button", { id: "password-send", class: "primary" }, t("club.password.change"));
    this.title = h("summary", { id: "password-open" }, t("club.password.change"));
    this.element = h("details", { class: "club-offer" }, this.title,
      h("form", { onsubmit: (event) => this.submit(event) },
        this.name,
        row(t("club.password.old"), this.old),
        row(t("club.password.new"), this.fresh),
        h("p", { id: "password-help", class: "soft" }, t("club.password.about", { count: SHORTEST_PASSWORD })),
        this.problem,
        h("div", { class: "buttons" }, this.send)));
  }

  /** Shown on our own profile alone; what was typed does not outlive it. @param {boolean} own */
  show(own) {
    this.name.value = this.club.name ?? "";
    this.element.hidden = !own;
    if (!own) this.clear();
  }

  clear() {
    this.old.value = this.fresh.value = this.problem.textContent = "";
    this.element.open = false;
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    this.problem.textContent = "";
    this.send.disabled = true;
    try {
      await this.club.changePassword(this.old.value, this.fresh.value);
      this.clear();
      this.title.focus();
      note(t("club.password.changed"));
    } catch (error) {
      const wrong = error.code === "wrong_password";
      this.problem.textContent = wrong ? t("club.password.wrong") : clubProblem(error);
      (wrong ? this.old : this.fresh).focus();
    } finally {
      this.send.disabled = false;
    }
  }
}
