/** What the page tells people: a line at its foot, and words for those who do not see it. */
import { byId, h } from "./dom.js";
import { LANGUAGES, t } from "./words.js";

const MOST_SAID = 4;
const OFFLINE_AFTER = 1500; // milliseconds without a server before it is worth a word
let timer = 0;
let offlineTimer = 0;
let offline = false;

/**
 * Say something to those who do not see the page; what is said in haste is heard one after the other.
 * @param {string} text
 */
export function say(text) {
  const spoken = byId("spoken");
  spoken.append(h("p", {}, text));
  while (spoken.children.length > MOST_SAID) spoken.firstChild?.remove();
}

/** Show a line for a while. @param {string} text @param {boolean} [bad] */
export function note(text, bad = true) {
  const notice = byId("notice");
  notice.textContent = text;
  notice.classList.toggle("bad", bad);
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
export function problemWords({ code, message, params }) {
  const key = `problem.${code}`;
  return key in LANGUAGES.en ? t(key, { message, ...params }) : message ?? "";
}

/** Say what went wrong. @param {Problem} problem */
export function complain(problem) {
  note(problemWords(problem));
}

/** The server went away, or is there again. @param {boolean} away */
export function noteOffline(away) {
  clearTimeout(offlineTimer);
  if (away) {
    offlineTimer = setTimeout(() => {
      complain({ code: "offline" });
      offline = true;
    }, OFFLINE_AFTER);
  } else if (offline) {
    offline = false;
    hideNotice();
  }
}
