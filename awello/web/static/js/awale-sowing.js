/** Layout of seeds in pits and stores, and the frames of a sowing animation. */

const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5)); // between consecutive seeds of a sunflower pattern
const SEED_RADIUS = 9;

/**
 * The seeds of a pit as { x, y, size, angle } around its centre: a sunflower pattern that shrinks to fit.
 * @param {number} count
 * @param {number} radius
 */
export function layOutPit(count, radius) {
  const step = Math.min(12.5, (radius - SEED_RADIUS * 0.8) / Math.sqrt(Math.max(count - 0.4, 1)));
  const size = Math.min(SEED_RADIUS, 2.6 + step * 0.62);
  return [...Array(count).keys()].map((seed) => {
    const far = count === 1 ? 0 : step * Math.sqrt(seed + 0.6);
    const turn = seed * GOLDEN_ANGLE + 0.7;
    return { x: far * Math.cos(turn) * 0.94, y: far * Math.sin(turn) * 1.06, size, angle: (seed * 67) % 180 };
  });
}

/** The seeds of a store, laid out in pairs from the left and slightly scattered. @param {number} count */
export function layOutStore(count) {
  return [...Array(count).keys()].map((seed) => ({
    x: Math.floor(seed / 2) * 15.4 + (seed % 2) * 7 + ((seed * 7) % 5),
    y: (seed % 2 ? 10 : -10) + ((seed * 3) % 5) - 2,
    size: 8,
    angle: (seed * 67) % 180,
  }));
}

/**
 * The frames of a sowing: { pits, captured, highlighted, hand, ticks }. The hand { from, to, count } moves across the
 * board; the seeds that it drops are counted from the next frame on. Pits are given by index, stores as "south" and
 * "north".
 * @param {BoardConfig} config
 * @param {(name: string) => number} indexOf
 */
export function computeSowingFrames({ before, capturedBefore, sowing }, indexOf) {
  if (!sowing) return [];
  const pits = [...before];
  const captured = [...capturedBefore];
  /** @type {SowingFrame[]} */
  const list = [];
  /** @param {Hand | null} hand @param {number | null} [highlighted] @param {number} [ticks] */
  const show = (hand, highlighted = null, ticks = 1) => list.push({ pits: [...pits], captured: [...captured], hand, highlighted, ticks });
  const route = [sowing.from, ...sowing.sown].map(indexOf);
  pits[route[0]] = 0;
  for (let step = 1; step < route.length; step += 1) {
    show({ from: route[step - 1], to: route[step], count: route.length - step });
    pits[route[step]] += 1;
  }
  const mover = route[0] < 6 ? 0 : 1;
  for (const [name, count] of sowing.captured) {
    const pit = indexOf(name);
    show(null, pit, 2);
    pits[pit] = 0;
    show({ from: pit, to: mover ? "north" : "south", count }, pit, 2);
    captured[mover] += count;
  }
  return list;
}
