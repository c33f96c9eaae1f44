/** The form to log in or create an account. */
import { formatClubError, MIN_PASSWORD_CHARS } from "./club-text.js";
import { buildFormRow, byId, h } from "./dom.js";
import { t } from "./i18n.js";

export class ClubLogin {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.signUp = false; // whether the form creates an account
    this.title = h("h2");
    this.name = h("input", { id: "club-name", name: "username", autocomplete: "username", autocapitalize: "off", spellcheck: false, maxLength: 20, required: true, "aria-describedby": "club-login-error" });
    this.password = h("input", { id: "club-password", name: "password", type: "password", maxLength: 200, required: true, "aria-describedby": "club-login-error club-password-help" });
    this.help = h("p", { id: "club-password-help", class: "muted" }, t("club.password.help", { count: MIN_PASSWORD_CHARS }));
    this.error = h("p", { id: "club-login-error", class: "error", role: "alert" });
    this.submitButton = h("button", { id: "club-submit", class: "primary" });
    this.switchButton = h("button", { id: "club-switch-form", type: "button", onclick: () => this.toggleSignUp() });
    this.element = h("section", { class: "club-login" },
      this.title,
      h("p", { class: "muted" }, t("club.login.about")),
      h("form", { onsubmit: (event) => this.submit(event) },
        buildFormRow(t("club.name"), this.name), buildFormRow(t("club.password"), this.password), this.help, this.error,
        h("div", { class: "buttons" }, this.submitButton, this.switchButton)));
    this.updateLabels();
  }

  updateLabels() {
    this.title.textContent = this.submitButton.textContent = t(this.signUp ? "club.signup" : "club.login");
    this.switchButton.textContent = t(this.signUp ? "club.login.instead" : "club.signup.instead");
    this.password.autocomplete = this.signUp ? "new-password" : "current-password";
    this.help.hidden = !this.signUp;
  }

  /** Switch between login and sign-up, keeping the name. */
  toggleSignUp() {
    this.signUp = !this.signUp;
    this.password.value = this.error.textContent = "";
    this.updateLabels();
    this.name.focus();
  }

  /** @param {Event} event */
  async submit(event) {
    event.preventDefault();
    this.error.textContent = "";
    this.submitButton.disabled = true;
    try {
      await this.club.logIn(this.name.value.trim(), this.password.value, this.signUp);
      this.signUp = false; // for the next login
      this.password.value = "";
      this.updateLabels();
      byId("club-view-lobby").focus();
    } catch (error) {
      this.error.textContent = formatClubError(error);
      (error.code === "invalid_name" || error.code === "name_taken" ? this.name : this.password).focus();
    } finally {
      this.submitButton.disabled = false;
    }
  }
}
