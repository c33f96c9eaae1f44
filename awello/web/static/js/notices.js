/** What the page tells people: a line at its foot, and words for those who do not see it. */
import { byId, h } from "./dom.js";
import { LANGUAGES, t } from "./i18n.js";

const MAX_ANNOUNCEMENTS = 4;
const OFFLINE_DELAY_MS = 1500; // milliseconds without a server before it is worth a word
let timer = 0;
let offlineTimer = 0;
let offline = false;

/**
 * Say something to those who do not see the page; what is said in haste is heard one after the other.
 * @param {string} text
 */
export function announce(text) {
  const spoken = byId("live-region");
  spoken.append(h("p", {}, text));
  while (spoken.children.length > MAX_ANNOUNCEMENTS) spoken.firstChild?.remove();
}

/** Show a line for a while. @param {string} text @param {boolean} [bad] */
export function showNotice(text, bad = true) {
  const notice = byId("notice");
  notice.textContent = text;
  notice.classList.toggle("error", bad);
  notice.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(hideNotice, bad ? 8000 : 4000);
}

/** Take the line away, unless the server is. */
export function hideNotice() {
  if (!offline) byId("notice").hidden = true;
}

/**
 * What went wrong: in the person's language where the kind of problem is known, else as the server said it.
 * @param {Problem} problem
 */
export function errorText({ code, message }) {
  const key = `error.${code}`;
  return key in LANGUAGES.en ? t(key, { message }) : message ?? "";
}

/** Say what went wrong. @param {Problem} problem */
export function showError(problem) {
  showNotice(errorText(problem));
}

/** The server went away, or is there again. @param {boolean} away */
export function setServerOffline(away) {
  clearTimeout(offlineTimer);
  if (away) {
    offlineTimer = setTimeout(() => {
      showError({ code: "offline" });
      offline = true;
    }, OFFLINE_DELAY_MS);
  } else if (offline) {
    offline = false;
    hideNotice();
  }
}
