import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Member } from '../../member.ts';

/** A point at which a process is killed: a part of a statement to Postgres, in lower case and without quotes. */
export interface KillStep {
  readonly name: string;
  /** Before the statement is sent. */
  readonly before?: string;
  /** After its response. */
  readonly after?: string;
  /** After the commit of the transaction that contains it. */
  readonly committed?: string;
}

/** A step that is not passed by then is never passed. */
const killTimeoutMs = 90_000;

/** Starts a process that can be killed at a step, once it is armed. */
export async function startArmable(member: Member, step: KillStep | undefined): Promise<void> {
  member.start(step && [killAt(step)]);
  await member.alive();
}

/**
 * Arms the kill, does what leads to the step, and starts the process for the next one. Resolves whether the step was reached;
 * the process has ended in either case.
 */
export async function killDuring(member: Member, act: () => Promise<unknown>, next?: KillStep): Promise<boolean> {
  process.kill(member.pid, 'SIGUSR2');
  await sleep(50);
  void act().catch(() => undefined); // The process may be killed while it responds.
  const killed = await pTimeout(member.ended(), { milliseconds: killTimeoutMs, fallback: () => 'never' });
  if (killed !== 'SIGKILL') await member.end('SIGKILL');
  await startArmable(member, next);
  return killed === 'SIGKILL';
}

/** The argument of Node that preloads the kill. SIGUSR2 arms it. */
function killAt({ name: _, ...where }: KillStep): string {
  const url = new URL('./kill-at.process.ts', import.meta.url);
  url.search = new URLSearchParams(where as Record<string, string>).toString();
  return `--import=${url.href}`;
}
