/** Where a process kills itself. Each is passed many times a second under load. */
export const killPoints = {
  'before commit': 'a request has written, and appended an event, and does not commit',
  'after commit': 'a request is committed, and not answered',
  'after the relay claims': 'the relay has read the outbox, and not published',
  'after produce before marking': 'the relay has published, and not removed from the outbox',
  'mid-batch': 'a consumer has written an effect of a batch of several events, and does not commit',
  'after the effect before the offset': 'a consumer has committed effects, and not their offset',
} as const;

export type KillPoint = keyof typeof killPoints;

/**
 * The kill, as an argument of Node: armed by SIGUSR2, it strikes at the `at`th passing of the point. With `of`, effects
 * on that table alone are counted, commits of what wrote to it, or claims of an event of that type.
 */
export function killArgument({ point, at, of }: { point: KillPoint; at: number; of?: string }): string {
  const url = new URL('./kill-points.process.ts', import.meta.url);
  url.search = new URLSearchParams({ point, at: String(at), ...(of && { of }) }).toString();
  return `--import=${url.href}`;
}
