import { Problem } from '@attribution/contracts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** How often a password or code may be guessed (decision 46). */
export const guessRules = {
  /** Wrong guesses within an hour; after them one more is compared at the end of each block. */
  wrong: 20,
  hourMs: 60 * minuteMs,
  /** The first block; each is twice as long as the one before. */
  firstBlockMs: minuteMs,
  longestBlockMs: 15 * minuteMs,
  /** Wrong passwords in a row, after which only known clients, or a password reset, let the person in. */
  wrongPasswords: 100,
  /** For so long after a sign-in its client has a budget of its own. */
  knownClientMs: 30 * dayMs,
  /** A person is told at most so often. */
  tellMs: dayMs,
} as const;

export function tooManyGuesses(blockedUntil: Date, now: Date): Problem {
  const seconds = String(Math.max(1, Math.ceil((blockedUntil.getTime() - now.getTime()) / 1000)));
  return new Problem('rate-limited', `Too many wrong passwords or codes for this address. Try again in ${seconds} s.`, {
    'retry-after': seconds,
    'ratelimit-limit': String(guessRules.wrong),
    'ratelimit-remaining': '0',
    'ratelimit-reset': seconds,
  });
}
