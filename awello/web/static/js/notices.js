/** Notices at the top of the page, and announcements for screen readers. */
import { byId, h } from "./dom.js";
import { t, translateError } from "./i18n.js";

const MAX_ANNOUNCEMENTS = 4;
const OFFLINE_DELAY_MS = 1500; // before a lost connection is reported
let timer = 0;
let offlineTimer = 0;
let offline = false;

/**
 * Announce a text to screen readers; several in quick succession are queued.
 * @param {string} text
 */
export function announce(text) {
  const spoken = byId("live-region");
  spoken.append(h("p", {}, text));
  while (spoken.children.length > MAX_ANNOUNCEMENTS) spoken.firstChild?.remove();
}

/** Show a notice for some seconds. @param {string} text @param {boolean} [bad] */
export function showNotice(text, bad = true) {
  const notice = byId("notice");
  notice.textContent = text;
  notice.classList.toggle("error", bad);
  notice.hidden = false;
  clearTimeout(timer);
  timer = setTimeout(hideNotice, bad ? 8000 : 4000);
}

/** Hide the notice, unless the server is offline. */
export function hideNotice() {
  if (!offline) byId("notice").hidden = true;
}

/** The text of an error in the user's language. @param {ErrorInfo} error */
export const formatError = (error) => translateError(`error.${error.code}`, error) ?? t("error.unexpected", { message: error.message ?? error.code });

/** Show an error. @param {ErrorInfo} error */
export function showError(error) {
  showNotice(formatError(error));
}

/** Report that the server went offline or is back. @param {boolean} away */
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
