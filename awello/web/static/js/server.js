/** The server: questions with one answer, and a live channel for answers that grow. */

/** An answer that says what went wrong. */
class ServerError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Ask the API, with an object or a Blob; the answer as an object, or as a Blob if it is no JSON.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
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
    throw new ServerError("offline", "the server does not answer");
  }
  const json = response.headers.get("content-type")?.startsWith("application/json");
  const answer = json ? await response.json() : await response.blob();
  if (!response.ok) throw new ServerError(answer.code ?? "status", answer.message ?? response.statusText);
  return answer;
}

/** A channel that opens itself again when it breaks; questions that were open are asked again. */
export class Live extends EventTarget {
  constructor() {
    super();
    this.questions = new Map(); // id → { message, hear }
    this.serial = 0;
    this.pause = 250;
    this.socket = /** @type {WebSocket} */ (/** @type {unknown} */ (null));
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/api/live`);
    this.socket.addEventListener("open", () => {
      this.pause = 250;
      this.dispatchEvent(new Event("online"));
      for (const { message } of this.questions.values()) this.socket.send(message);
    });
    this.socket.addEventListener("message", (event) => this.hear(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => {
      this.dispatchEvent(new Event("offline"));
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(2 * this.pause, 4000);
    });
  }

  /**
   * Ask a question; `hear` is told each answer.  The function that comes back takes the question back.
   * @param {string} kind
   * @param {object} fields
   * @param {(answer: any) => void} hear
   */
  ask(kind, fields, hear) {
    const id = ++this.serial;
    const message = JSON.stringify({ id, do: kind, ...fields });
    this.questions.set(id, { message, hear });
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(message);
    return () => {
      if (!this.questions.delete(id)) return;
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id, do: "stop" }));
    };
  }

  /** @param {any} answer */
  hear(answer) {
    const question = this.questions.get(answer.id);
    if (!question) return;
    if (answer.kind === "done" || answer.kind === "error" || answer.kind === "choice") this.questions.delete(answer.id);
    question.hear(answer);
  }
}
