import type { DeviceIdentity, Principal } from '@attribution/auth';
import { type CallerName, type Endpoint, Problem } from '@attribution/contracts';
import { networkOf } from '@attribution/http';
import { createTurns, type EndTurn, type Turns, type TurnTaker } from '@attribution/runtime';
import type { Response } from 'express';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Of an account, and of a credential, at the same time; and those that may wait, for less than a gateway does. */
const shares = { perLane: 2, perCaller: 1, maxWaiting: 32, maxWaitMs: 10_000 };
/** Less than a client that obeys `Retry-After` waits itself, and much more than a request takes. */
const refuseAfterMs = 1_000;
/** Whoever has more waiting than turns gets a quarter of the time that it would take, unless it is alone in the service. */
const rest = { times: 3, leastMs: 25, mostMs: 1_000 };
/** What is slow takes the processor and the database from other services, too. */
const slowRest = { ...rest, alone: true };
/** A small page takes a millisecond or two: whoever asks for a few at once does not notice the rest. */
const pageRest = { ...slowRest, leastMs: 1 };

/** What is refused takes a few milliseconds, and in a loop of each of its turns a caller would have a thousand a second. */
const requestRest = { ...rest, failedMs: 100 };
/** A device may send 1.25 MB a second: what a full batch leaves for the garbage collector stops all of a process. */
const restForBytes = { ...rest, msPerByte: 1 / 1_250 };

/** What callers take turns with, by name. Uploads are endpoints with a file; what else takes long says so in its contract. */
const kinds = {
  // Each holds a file on disk, which has a budget of its own. A slow client must not hold up other accounts.
  upload: { ...shares, total: Number.POSITIVE_INFINITY },
  // Each holds a database connection.
  export: { ...shares, rest: slowRest, total: 3 },
  search: { ...shares, rest: slowRest, total: 4 },
  // A page is parsed and written in one turn of the event loop.
  page: { ...shares, rest: pageRest, total: 16 },
  // A device sends one after the other, so none of it waits.
  batch: { ...shares, maxWaiting: 256, rest: restForBytes, total: Number.POSITIVE_INFINITY },
  // All others are short, and none waits for another caller's: the first of somebody is behind so many of each other, not behind all that they have sent.
  request: {
    total: Number.POSITIVE_INFINITY,
    perLane: 16,
    perCaller: 8,
    rest: requestRest,
    maxWaiting: 256,
    maxWaitMs: 10_000,
  },
} as const;
type Kind = keyof typeof kinds;

/** Who sends a request: a service of the platform has no turns to wait for. */
interface Asking {
  readonly caller: Principal | DeviceIdentity | CallerName | undefined;
  readonly ip: string;
}

export interface CallerTurns {
  /**
   * Waits until it is the caller's turn, if it is not yet. Returns a function that ends the turn. Throws `unavailable` if too
   * many wait, or if the client has left.
   */
  begin(contract: Endpoint, asking: Asking, res: Response): EndTurn | Promise<EndTurn>;
}

/**
 * Lets callers take turns, in this process: accounts and their credentials, devices, and the addresses of those without a
 * token. So nobody waits for more than a few requests of each other caller, however many that has sent.
 */
export function createCallerTurns(registry: Registry, service: string): CallerTurns {
  const registers = [registry];
  const refused = new Counter({
    name: 'turns_refused_total',
    help: 'Requests that were refused because others of the caller did not end in time',
    labelNames: ['service', 'kind'],
    registers,
  });
  const pools = Object.entries(kinds).map(([kind, options]): [string, Turns] => {
    refused.inc({ service, kind }, 0);
    const busy = () => {
      refused.inc({ service, kind });
      return new Problem('unavailable', 'Others of yours are in progress. Try again.', { 'retry-after': '5' });
    };
    return [kind, createTurns({ ...options, refuseAfterMs, busy })];
  });
  const byKind = new Map(pools);
  new Gauge({
    name: 'turns',
    help: 'Requests that are in progress, or wait for others of their caller',
    labelNames: ['service', 'kind', 'state'],
    registers,
    collect() {
      for (const [kind, { running, waiting }] of pools) {
        this.set({ service, kind, state: 'running' }, running);
        this.set({ service, kind, state: 'waiting' }, waiting);
      }
    },
  });

  async function wait(turns: Turns, taker: TurnTaker, res: Response): Promise<EndTurn> {
    const leaving = new AbortController();
    const leave = () => leaving.abort(new Problem('unavailable', 'The client has left.'));
    if (res.closed) leave();
    res.once('close', leave);
    try {
      return await turns.take(taker, leaving.signal);
    } finally {
      res.off('close', leave);
    }
  }

  return {
    begin(contract, asking, res) {
      const kind = kindOf(contract);
      const turns = kind && byKind.get(kind);
      const taker = takerOf(asking);
      if (!turns || !taker) return free;
      return turns.tryTake(taker) ?? wait(turns, taker, res);
    },
  };
}

const free = () => {};

/** Streams have limits of their own, and last as long as the other side wants. */
function kindOf({ upload, turns, stream }: Endpoint): Kind | undefined {
  if (stream) return undefined;
  return upload ? 'upload' : (turns ?? 'request');
}

/** Devices of one account are many, and each is alone in its lane. */
function takerOf({ caller, ip }: Asking): TurnTaker | undefined {
  if (typeof caller === 'string') return undefined;
  if (!caller) {
    const client = networkOf(ip);
    return { lane: client, caller: client };
  }
  return { lane: caller.kind === 'device' ? caller.id : caller.accountId, caller: caller.id };
}
