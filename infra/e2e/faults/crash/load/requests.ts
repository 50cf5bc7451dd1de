import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Call, type Client, ContractViolation, type Endpoint } from '@attribution/contracts';
import pTimeout from 'p-timeout';
import type { Ledger, Outcome } from './ledger.ts';

/** Much longer than the gateway waits for an upstream: whoever gets no answer by then gets none on a busy machine either. */
const timeoutMs = 60_000;
/** Pause after a request without an answer, so that the load does not hammer a platform that is down. */
const pauseAfterFailureMs = 200;

export type Reply<Body> =
  | { readonly outcome: 'acknowledged'; readonly body: Body }
  | { readonly outcome: Exclude<Outcome, 'acknowledged'> };

/** Sends a request and records its outcome in the ledger. Never rejects. */
export async function send<const E extends Endpoint>(
  ledger: Ledger,
  client: Client,
  endpoint: E,
  input: Call<E>,
): Promise<Reply<Answer<E>['body']>> {
  const reply = await attempt(ledger, client, endpoint, input);
  ledger.counts[reply.outcome]++;
  if (reply.outcome === 'unknown') await sleep(pauseAfterFailureMs);
  return reply;
}

async function attempt<const E extends Endpoint>(
  ledger: Ledger,
  client: Client,
  endpoint: E,
  input: Call<E>,
): Promise<Reply<Answer<E>['body']>> {
  try {
    const timeout = new ContractViolation(`${endpoint.operation} was not answered in ${timeoutMs} ms`);
    const answer = await pTimeout(client.call(endpoint, input), { milliseconds: timeoutMs, message: timeout });
    if (answer.problem === undefined) return { outcome: 'acknowledged', body: answer.body };
    countFailure(ledger, `${answer.status} ${answer.problem.kind}`);
    return { outcome: answer.status >= 500 ? 'unknown' : 'refused' };
  } catch (error) {
    // Any other error comes from fetch: the connection was refused or broke.
    if (error instanceof ContractViolation) ledger.violations.push(error.message);
    else countFailure(ledger, `cut: ${codeOf(error)}`);
    return { outcome: 'unknown' };
  }
}

function countFailure({ failures }: Ledger, what: string): void {
  failures.set(what, (failures.get(what) ?? 0) + 1);
}

/** The code of the system error that fetch wraps. */
function codeOf(error: unknown): string {
  const { cause, message } = error as Error;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}

const maxAttempts = 60;

/**
 * Sends a request under one idempotency key until there is an answer, so that an effect whose answer was lost is not
 * repeated. After an unanswered request only a success is conclusive: a refusal may be due to the effect of the first one.
 */
export async function retryUntilAnswered<Body>(
  isRunning: () => boolean,
  request: (headers: { readonly 'idempotency-key': string }) => Promise<Reply<Body>>,
): Promise<Reply<Body>> {
  const headers = { 'idempotency-key': randomUUID() };
  for (let attempt = 1; ; attempt++) {
    const reply = await request(headers);
    if (reply.outcome === 'acknowledged' || (reply.outcome === 'refused' && attempt === 1)) return reply;
    if (reply.outcome === 'refused' || attempt === maxAttempts || !isRunning()) return { outcome: 'unknown' };
  }
}

/** Pays once on the provider's page, with the test card that succeeds. Never rejects. */
export async function pay(ledger: Ledger, page: string): Promise<Outcome> {
  const body = new URLSearchParams({ action: 'use:succeeds' });
  const answer = await fetch(page, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  const outcome = answer?.status === 303 ? 'acknowledged' : 'unknown';
  ledger.counts[outcome]++;
  return outcome;
}
