import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Call, type Client, ContractViolation, type Endpoint } from '@attribution/contracts';
import pTimeout from 'p-timeout';
import type { Ledger, Outcome } from './ledger.ts';

/** Milliseconds; the gateway gives up an upstream earlier. */
const patience = 20_000;
/** Before the next request after one that was not answered: nobody hammers a platform that is down. */
const rest = 200;

export type Told<Body> =
  | { readonly outcome: 'acknowledged'; readonly body: Body }
  | { readonly outcome: Exclude<Outcome, 'acknowledged'> };

/** Sends a request and counts what became of it. Never rejects. */
export async function ask<const E extends Endpoint>(
  ledger: Ledger,
  client: Client,
  endpoint: E,
  input: Call<E>,
): Promise<Told<Answer<E>['body']>> {
  const told = await attempt(ledger, client, endpoint, input);
  ledger.counts[told.outcome]++;
  if (told.outcome === 'unknown') await sleep(rest);
  return told;
}

async function attempt<const E extends Endpoint>(
  ledger: Ledger,
  client: Client,
  endpoint: E,
  input: Call<E>,
): Promise<Told<Answer<E>['body']>> {
  try {
    const late = new ContractViolation(`${endpoint.operation} was not answered in ${patience} ms`);
    const answer = await pTimeout(client.call(endpoint, input), { milliseconds: patience, message: late });
    if (answer.problem === undefined) return { outcome: 'acknowledged', body: answer.body };
    note(ledger, `${answer.status} ${answer.problem.kind}`);
    return { outcome: answer.status >= 500 ? 'unknown' : 'refused' };
  } catch (error) {
    // Anything else is fetch's word for a connection that was refused or broke.
    if (error instanceof ContractViolation) ledger.improper.push(error.message);
    else note(ledger, `cut: ${codeOf(error)}`);
    return { outcome: 'unknown' };
  }
}

function note({ failures }: Ledger, what: string): void {
  failures.set(what, (failures.get(what) ?? 0) + 1);
}

/** Of what is below fetch's own error. */
function codeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}

/** How often something is asked for before it is given up. */
const attempts = 60;

/**
 * Asks under one key until there is an answer: what was made without one is not made again. Whatever comes after a
 * request without an answer tells of that too, as far as it says yes.
 */
export async function insist<Body>(
  goesOn: () => boolean,
  request: (headers: { readonly 'idempotency-key': string }) => Promise<Told<Body>>,
): Promise<Told<Body>> {
  const headers = { 'idempotency-key': randomUUID() };
  for (let attempt = 1; ; attempt++) {
    const told = await request(headers);
    if (told.outcome === 'acknowledged' || (told.outcome === 'refused' && attempt === 1)) return told;
    if (told.outcome === 'refused' || attempt === attempts || !goesOn()) return { outcome: 'unknown' };
  }
}

/** Clicks on the test card that pays, once. Never rejects. */
export async function pay(ledger: Ledger, page: string): Promise<Outcome> {
  const body = new URLSearchParams({ action: 'use:succeeds' });
  const answer = await fetch(page, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(patience),
  }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  const outcome = answer?.status === 303 ? 'acknowledged' : 'unknown';
  ledger.counts[outcome]++;
  return outcome;
}
