/** Synthesised sounds, off by default. */

/** The notes of each sound: waveform, start and end pitch (Hz), delay and length (s), volume. */
/** @type {Record<string, (string | number)[][]>} */
const SOUNDS = {
  disc: [["triangle", 620, 240, 0, 0.07, 0.3]],
  seed: [["sine", 900, 700, 0, 0.04, 0.2]],
  capture: [["sine", 520, 660, 0, 0.09, 0.2], ["sine", 780, 880, 0.07, 0.12, 0.2]],
  end: [["sine", 523, 523, 0, 0.25, 0.2], ["sine", 659, 659, 0.14, 0.25, 0.2], ["sine", 784, 784, 0.28, 0.45, 0.2]],
  wrong: [["triangle", 200, 150, 0, 0.16, 0.25]],
};

let enabled = false;
/** @type {AudioContext | null} */
let context = null;

/** Switch sounds on or off. @param {boolean} on */
export function enableSounds(on) {
  enabled = on;
}

/** Play "disc", "seed", "capture", "end" or "wrong", if sounds are on. @param {string} name */
export function playSound(name) {
  if (!enabled) return;
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume();
  for (const note of SOUNDS[name]) playNote(context, .../** @type {[OscillatorType, number, number, number, number, number]} */ (note));
}

/**
 * @param {AudioContext} audio
 * @param {OscillatorType} wave
 * @param {number} from
 * @param {number} to
 * @param {number} delay
 * @param {number} length
 * @param {number} loudness
 */
function playNote(audio, wave, from, to, delay, length, loudness) {
  const start = audio.currentTime + delay;
  const end = start + length;
  const tone = new OscillatorNode(audio, { type: wave, frequency: from });
  const volume = new GainNode(audio, { gain: 0 });
  tone.frequency.setValueAtTime(from, start);
  tone.frequency.exponentialRampToValueAtTime(to, end);
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(loudness, start + 0.005);
  volume.gain.exponentialRampToValueAtTime(0.001, end);
  tone.connect(volume).connect(audio.destination);
  tone.start(start);
  tone.stop(end);
}
