/** The form to change the password, on the user's own profile. */
import { formatClubError, MIN_PASSWORD_CHARS } from "./club-text.js";
import { buildFormRow, h } from "./dom.js";
import { t } from "./i18n.js";
import { showNotice } from "./notices.js";

export class ClubPassword {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.name = h("input", { name: "username", autocomplete: "username", readOnly: true, hidden: true }); // for password managers
    this.old = h("input", { id: "password-old", type: "password", autocomplete: "current-password", maxLength: 200, required: true, "aria-describedby": "password-error" });
    this.newPassword = h("input", { id: "password-new", type: "password", autocomplete: "new-password", maxLength: 200, required: true, "aria-describedby": "password-error password-help" });
    this.error = h("p", { id: "password-error", class: "error", role: "alert" });
    this.submitButton = h("button", { id: "password-submit", class: "primary" }, t("club.password.change"));
    this.title = h("summary", { id: "password-open" }, t("club.password.change"));
    this.element = h("details", { class: "club-form" }, this.title,
      h("form", { onsubmit: (event) => this.submit(event) },
        this.name,
        buildFormRow(t("club.password.old"), this.old),
        buildFormRow(t("club.password.new"), this.newPassword),
        h("p", { id: "password-help", class: "muted" }, t("club.password.about", { count: MIN_PASSWORD_CHARS })),
        this.error,
        h("div", { class: "buttons" }, this.submitButton)));
  }

  /** Show the form on the user's own profile; hide it on others and discard what was typed. @param {boolean} own */
  show(own) {
    this.name.value = this.club.name ?? "";
    this.element.hidden = !own;
    if (!own) this.clear();
  }

  clear() {
    this.old.value = this.newPassword.value = this.error.textContent = "";
    this.element.open = false;
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    this.error.textContent = "";
    this.submitButton.disabled = true;
    try {
      await this.club.changePassword(this.old.value, this.newPassword.value);
      this.clear();
      this.title.focus();
      showNotice(t("club.password.changed"));
    } catch (error) {
      this.error.textContent = formatClubError(error);
      (error.code === "wrong_password" ? this.old : this.newPassword).focus();
    } finally {
      this.submitButton.disabled = false;
    }
  }
}
