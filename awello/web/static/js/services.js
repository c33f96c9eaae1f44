/** What every part of the page shares to reach the engine: one channel, one analyst, one reviewer. */
import { Analyst } from "./analyst.js";
import { Reviewer } from "./reviewer.js";
import { Connection } from "./server.js";

export const engineConnection = new Connection("/api/live", { resendsRequests: true });
export const analyst = new Analyst(engineConnection);
export const reviewer = new Reviewer(engineConnection, analyst);
