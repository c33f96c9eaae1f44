/** What every part of the page shares to reach the engine: one channel, one analyst, one reviewer. */
import { Analyst } from "./analyst.js";
import { Reviewer } from "./reviewer.js";
import { Connection } from "./server.js";

export const live = new Connection("/api/live", { resumes: true });
export const analyst = new Analyst(live);
export const reviewer = new Reviewer(live, analyst);
