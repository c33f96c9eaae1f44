/** The shared services: the connection to the engine, the analyst and the reviewer. */
import { Analyst } from "./analyst.js";
import { Reviewer } from "./reviewer.js";
import { Connection } from "./server.js";

export const engineConnection = new Connection("/api/engine", { resendsRequests: true });
export const analyst = new Analyst(engineConnection);
export const reviewer = new Reviewer(engineConnection, analyst);
