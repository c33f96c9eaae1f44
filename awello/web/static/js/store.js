/** The state of the page: actions change it with setState(), panels subscribe to topics. */

/** @type {State} */
const values = {
  game: /** @type {any} */ (null), // on the board; null until the first game has loaded
  paused: false, // bots do not move
  suspended: false, // a position is being edited or a move retried: bots and clocks are paused
  thinking: false, // a bot's move has been requested
  replyReady: false, // the bot's move has arrived and is played after the animation
  turnStart: 0, // performance.now() when the current position appeared
  editor: null, // the edited position
  flipped: false, // the second player is at the bottom
  marks: [], // the user's circles and arrows
  preview: null, // a previewed line
  tab: "play",
  availablePlayers: new Set(), // names of the server's players
  club: null, // the server's club, if it has one
  clubReady: Promise.resolve(), // resolves when the club has loaded, or does not exist
};

/** @type {{ topics: Set<Topic>, listener: () => void }[]} */
let subscriptions = [];

/** The current state, read-only: change it with setState(). @type {Readonly<State>} */
export const state = values;

/** Change parts of the state and notify their subscribers. @param {Partial<State>} changes */
export function setState(changes) {
  Object.assign(values, changes);
  notifyChange(.../** @type {Topic[]} */ (Object.keys(changes)));
}

/** Notify the subscribers of some topics, for example after a change inside the game. @param {Topic[]} topics */
export function notifyChange(...topics) {
  for (const { topics: wanted, listener } of subscriptions) if (topics.some((topic) => wanted.has(topic))) listener();
}

/**
 * Call a listener after each change of some topics; listeners run in the order of subscription.
 * @param {Topic[]} topics
 * @param {() => void} listener
 * @returns {() => void} a function that ends the subscription
 */
export function subscribe(topics, listener) {
  const subscription = { topics: new Set(topics), listener };
  subscriptions = [...subscriptions, subscription];
  return () => {
    subscriptions = subscriptions.filter((other) => other !== subscription);
  };
}
