/** What every part of the page shares to reach the engine: one channel, one analyst, one reviewer. */
import { Analyst } from "./analyst.js";
import { Reviewer } from "./reviewer.js";
import { Live } from "./server.js";

export const live = new Live();
export const analyst = new Analyst(live);
export const reviewer = new Reviewer(live, analyst);
