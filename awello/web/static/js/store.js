/** The state of the page, in one place: actions change it by set(), panels subscribe to what they show. */

/** @type {State} */
const values = {
  game: /** @type {any} */ (null), // on the board; there is none only until the first one is loaded
  paused: false, // programs do not move
  suspended: false, // a position is set up or a move tried again: no program is asked, no clock runs
  thinking: false, // a program has been asked for a move
  replyReady: false, // its move is known, and is played as soon as the last one has been shown
  turnStart: 0, // the moment at which the present position came on the board
  editor: null, // the position that is being set up
  flipped: false, // the second player sits at the near side of the board
  marks: [], // circles and arrows of the user
  preview: null, // a line that is looked at without being played
  tab: "play",
  availablePlayers: new Set(), // names of the programs of this server
  club: null, // of this server, once it has been found
  clubReady: Promise.resolve(), // resolves when the search for the club has ended
};

/** @type {{ topics: Set<Topic>, listener: () => void }[]} */
let subscriptions = [];

/** The present state. It is read-only: change it by set(). @type {Readonly<State>} */
export const state = values;

/** Change parts of the state and call everyone who shows them. @param {Partial<State>} changes */
export function setState(changes) {
  Object.assign(values, changes);
  notifyChange(.../** @type {Topic[]} */ (Object.keys(changes)));
}

/** Call the subscribers of some topics, such as after a change inside the game. @param {Topic[]} topics */
export function notifyChange(...topics) {
  for (const { topics: wanted, listener } of subscriptions) if (topics.some((topic) => wanted.has(topic))) listener();
}

/**
 * Call a listener after each change of some topics; subscribers are called in the order in which they came.
 * @param {Topic[]} topics
 * @param {() => void} listener
 * @returns {() => void} what ends the subscription
 */
export function subscribe(topics, listener) {
  const subscription = { topics: new Set(topics), listener };
  subscriptions = [...subscriptions, subscription];
  return () => {
    subscriptions = subscriptions.filter((other) => other !== subscription);
  };
}
