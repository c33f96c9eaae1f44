/** The channel of the club: it opens itself again when it breaks, answers pings, and carries questions and news. */

const FIRST_PAUSE = 250; // milliseconds before it is opened again
const LONGEST_PAUSE = 4000;
const PATIENCE = 5000; // for the first welcome

/** @param {string} code @param {any} message @param {number} [minutes] */
const problem = (code, message, minutes) => Object.assign(new Error(message), { code, minutes });

/** Events: "news" (detail: what the club tells), "offline". */
export class ClubChannel extends EventTarget {
  constructor() {
    super();
    this.questions = new Map(); // id → { resolve, reject }
    this.serial = 0;
    this.pause = FIRST_PAUSE;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.online = false; // between a welcome and the end of the connection
  }

  /** Connect, if there is no connection yet; or anew, as somebody else. */
  open(anew = false) {
    if (this.socket && !anew) return;
    clearTimeout(this.timer);
    const before = this.socket;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/api/club/live`);
    this.socket = socket;
    before?.close();
    if (before) this.lose();
    socket.addEventListener("message", (event) => socket === this.socket && this.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => socket === this.socket && this.again());
  }

  again() {
    this.lose();
    this.timer = setTimeout(() => this.open(true), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  lose() {
    this.online = false;
    for (const { reject } of this.questions.values()) reject(problem("offline", "the club does not answer"));
    this.questions.clear();
    this.dispatchEvent(new Event("offline"));
  }

  /** @param {any} message */
  hear(message) {
    if (message.event === "ping") return this.send({ do: "pong", number: message.number });
    if (message.event === "welcome") {
      this.online = true;
      this.pause = FIRST_PAUSE;
    }
    if (message.event) return this.dispatchEvent(new CustomEvent("news", { detail: message }));
    const question = this.questions.get(message.id);
    this.questions.delete(message.id);
    if (message.ok) question?.resolve(message);
    else question?.reject(problem(message.code, message.message, message.minutes));
  }

  /** @param {any} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Ask for something; the answer, or an error that says why not. @param {string} what @param {object} [fields] */
  ask(what, fields = {}) {
    if (!this.online) return Promise.reject(problem("offline", "the club does not answer"));
    const id = ++this.serial;
    return new Promise((resolve, reject) => {
      this.questions.set(id, { resolve, reject });
      this.send({ id, do: what, ...fields });
    });
  }

  /** Wait for a welcome, but not for ever. */
  ready() {
    this.open();
    if (this.online) return Promise.resolve();
    return /** @type {Promise<void>} */ (new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(problem("offline", "the club does not answer")), PATIENCE);
      /** @param {any} given */
      const hear = ({ detail }) => {
        if (detail.event !== "welcome") return;
        clearTimeout(timer);
        this.removeEventListener("news", hear);
        resolve();
      };
      this.addEventListener("news", hear);
    }));
  }
}
