// How long to wait before connecting again: full jitter, so that a thousand browsers do not come back at once.

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Milliseconds before attempt `attempt` (0 is the first): evenly spread between 0 and a doubling bound. */
export function delayBefore(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
}
