/** The server: HTTP requests, and WebSocket connections for streams and events. */

const MIN_RECONNECT_DELAY_MS = 250;
const MAX_RECONNECT_DELAY_MS = 4000;
const CONNECT_TIMEOUT_MS = 5000;
const OFFLINE = { code: "offline", message: "the server does not respond" };

/** An error response. */
class ServerError extends Error {
  /** @param {string} code @param {string} message @param {Record<string, unknown>} [params] */
  constructor(code, message, params = {}) {
    super(message);
    this.code = code;
    this.params = params;
  }
}

/**
 * Call the API with an object or a Blob; returns an object, or a Blob if the response is not JSON.
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
  const content = json ? await response.json() : await response.blob();
  if (!response.ok) throw new ServerError(content.code ?? "status", content.message ?? response.statusText, content.params ?? { status: response.status });
  return content;
}

/**
 * A WebSocket that reconnects. Requests and their responses have an id and a type.
 * With `resendsRequests` (a stateless server), open requests are sent again after reconnecting. Otherwise they fail, and the
 * connection is online after the message `welcome`. Events: "online", "offline", "event" (detail: the message).
 */
export class Connection extends EventTarget {
  /** @param {string} path @param {{ resendsRequests?: boolean }} [options] */
  constructor(path, { resendsRequests = false } = {}) {
    super();
    this.path = path;
    this.resendsRequests = resendsRequests;
    /** @type {Map<number, { message: object, onResponse: (response: any) => void }>} */
    this.requests = new Map();
    this.lastId = 0;
    this.reconnectDelay = MIN_RECONNECT_DELAY_MS;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.online = false;
    this.timer = 0;
    if (resendsRequests) this.open();
  }

  /** Connect; an existing connection is replaced only with `reconnect`, for example after a change of session. */
  open(reconnect = false) {
    if (this.socket && !reconnect) return;
    clearTimeout(this.timer);
    const before = this.socket;
    const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}${this.path}`);
    this.socket = socket;
    before?.close();
    if (before) this.handleOffline();
    socket.addEventListener("open", () => this.resendsRequests && socket === this.socket && this.handleOnline());
    socket.addEventListener("message", (event) => socket === this.socket && this.handleMessage(JSON.parse(event.data)));
    socket.addEventListener("close", () => socket === this.socket && this.reconnectLater());
  }

  reconnectLater() {
    this.handleOffline();
    this.timer = setTimeout(() => this.open(true), this.reconnectDelay);
    this.reconnectDelay = Math.min(2 * this.reconnectDelay, MAX_RECONNECT_DELAY_MS);
  }

  handleOnline() {
    this.online = true;
    this.reconnectDelay = MIN_RECONNECT_DELAY_MS;
    this.dispatchEvent(new Event("online"));
    for (const { message } of this.requests.values()) this.send(message);
  }

  handleOffline() {
    this.online = false;
    if (!this.resendsRequests) {
      for (const id of [...this.requests.keys()]) this.handleMessage({ id, type: "error", ...OFFLINE });
    }
    this.dispatchEvent(new Event("offline"));
  }

  /** @param {any} message */
  handleMessage(message) {
    if (message.type === "ping") return this.send({ type: "pong", number: message.number });
    if (message.type === "welcome") this.handleOnline();
    if (!("id" in message)) return this.dispatchEvent(new CustomEvent("event", { detail: message }));
    const request = this.requests.get(message.id);
    if (message.type === "done" || message.type === "error") this.requests.delete(message.id);
    request?.onResponse(message);
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /**
   * Send a request; `onResponse` receives each response. The returned function cancels the request.
   * @param {string} type
   * @param {object} fields
   * @param {(response: any) => void} onResponse
   */
  stream(type, fields, onResponse) {
    const id = ++this.lastId;
    const message = { id, type, ...fields };
    this.requests.set(id, { message, onResponse });
    this.send(message);
    return () => {
      if (this.requests.delete(id)) this.send({ id, type: "stop" });
    };
  }

  /**
   * Send a request with a single response; returns it, or throws the error.
   * @param {string} type
   * @param {object} fields
   * @returns {Promise<any>}
   */
  request(type, fields = {}) {
    return new Promise((resolve, reject) => {
      const onResponse = (/** @type {any} */ response) => (response.type === "error" ? reject(Object.assign(new Error(response.message), response)) : resolve(response));
      if (this.online) this.stream(type, fields, onResponse);
      else onResponse({ type: "error", ...OFFLINE });
    });
  }

  /** Wait until the connection is online, up to a timeout. @returns {Promise<void>} */
  waitUntilOnline() {
    this.open();
    if (this.online) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(Object.assign(new Error(OFFLINE.message), OFFLINE)), CONNECT_TIMEOUT_MS);
      this.addEventListener("online", () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}
