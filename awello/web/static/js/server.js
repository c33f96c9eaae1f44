/** The server: HTTP requests with one answer, and connections for answers that grow and for events. */

const FIRST_PAUSE = 250; // milliseconds before a connection is opened again
const LONGEST_PAUSE = 4000;
const PATIENCE = 5000; // milliseconds to wait for a connection
const OFFLINE = { code: "offline", message: "the server does not answer" };

/** An answer that says what went wrong. */
class ServerError extends Error {
  /** @param {string} code @param {string} message @param {Record<string, unknown>} [params] */
  constructor(code, message, params = {}) {
    super(message);
    this.code = code;
    this.params = params;
  }
}

/**
 * Ask the API, with an object or a Blob; the answer as an object, or as a Blob if it is no JSON.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
export async function api(method, path, body, headers = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined || body instanceof Blob ? headers : { "content-type": "application/json", ...headers },
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch {
    throw new ServerError(OFFLINE.code, OFFLINE.message);
  }
  const json = response.headers.get("content-type")?.startsWith("application/json");
  const answer = json ? await response.json() : await response.blob();
  if (!response.ok) throw new ServerError(answer.code ?? "status", answer.message ?? response.statusText, answer.params);
  return answer;
}

/**
 * A WebSocket that opens itself again when it breaks.  Requests have an id and a type, and so have their answers.
 * Where the server keeps no state (`resumes`), open requests are sent again; else they fail, and the connection counts
 * as online when it has been welcomed.  Events: "online", "offline", "event" (detail: what no request asked for).
 */
export class Connection extends EventTarget {
  /** @param {string} path @param {{ resumes?: boolean }} [options] */
  constructor(path, { resumes = false } = {}) {
    super();
    this.path = path;
    this.resumes = resumes;
    /** @type {Map<number, { message: object, hear: (answer: any) => void }>} */
    this.requests = new Map();
    this.serial = 0;
    this.pause = FIRST_PAUSE;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.online = false;
    this.timer = 0;
    if (resumes) this.open();
  }

  /** Connect, if there is no connection yet; or anew, as somebody else. */
  open(anew = false) {
    if (this.socket && !anew) return;
    clearTimeout(this.timer);
    const before = this.socket;
    const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}${this.path}`);
    this.socket = socket;
    before?.close();
    if (before) this.lose();
    socket.addEventListener("open", () => this.resumes && socket === this.socket && this.begin());
    socket.addEventListener("message", (event) => socket === this.socket && this.hear(JSON.parse(event.data)));
    socket.addEventListener("close", () => socket === this.socket && this.again());
  }

  again() {
    this.lose();
    this.timer = setTimeout(() => this.open(true), this.pause);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
  }

  begin() {
    this.online = true;
    this.pause = FIRST_PAUSE;
    this.dispatchEvent(new Event("online"));
    for (const { message } of this.requests.values()) this.send(message);
  }

  lose() {
    this.online = false;
    if (!this.resumes) {
      for (const id of [...this.requests.keys()]) this.hear({ id, type: "error", ...OFFLINE });
    }
    this.dispatchEvent(new Event("offline"));
  }

  /** @param {any} message */
  hear(message) {
    if (message.type === "ping") return this.send({ type: "pong", number: message.number });
    if (message.type === "welcome") this.begin();
    if (!("id" in message)) return this.dispatchEvent(new CustomEvent("event", { detail: message }));
    const request = this.requests.get(message.id);
    if (message.type === "done" || message.type === "error") this.requests.delete(message.id);
    request?.hear(message);
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /**
   * Send a request; `hear` is told each answer.  The function that comes back cancels the request.
   * @param {string} type
   * @param {object} fields
   * @param {(answer: any) => void} hear
   */
  follow(type, fields, hear) {
    const id = ++this.serial;
    const message = { id, type, ...fields };
    this.requests.set(id, { message, hear });
    this.send(message);
    return () => {
      if (this.requests.delete(id)) this.send({ id, type: "stop" });
    };
  }

  /**
   * Send a request that has one answer; the answer, or an error that says why not.
   * @param {string} type
   * @param {object} fields
   * @returns {Promise<any>}
   */
  ask(type, fields = {}) {
    return new Promise((resolve, reject) => {
      const hear = (/** @type {any} */ answer) => (answer.type === "error" ? reject(Object.assign(new Error(answer.message), answer)) : resolve(answer));
      if (this.online) this.follow(type, fields, hear);
      else hear({ type: "error", ...OFFLINE });
    });
  }

  /** Wait until the connection is online, but not for ever. @returns {Promise<void>} */
  ready() {
    this.open();
    if (this.online) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(Object.assign(new Error(OFFLINE.message), OFFLINE)), PATIENCE);
      this.addEventListener("online", () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}
