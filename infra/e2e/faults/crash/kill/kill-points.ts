/** Where a process can be made to kill itself. Under load it passes each point many times a second. */
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
 * The argument of Node that preloads the kill. It is armed by SIGUSR2, and kills the process when it passes the point for
 * the `pass`th time. With `subject`, a table or an event type, only the passes that concern it count.
 */
export function killArgument({ point, pass, subject }: { point: KillPoint; pass: number; subject?: string }): string {
  const url = new URL('./kill-points.process.ts', import.meta.url);
  url.search = new URLSearchParams({ point, pass: String(pass), ...(subject && { subject }) }).toString();
  return `--import=${url.href}`;
}
