import type { DeviceIdentity, Principal } from '@attribution/auth';
import { type CallerName, type Endpoint, Problem } from '@attribution/contracts';
import { createTurns, type Turns } from '@attribution/runtime';
import type { Response } from 'express';
import { Counter, Gauge, type Registry } from 'prom-client';

/** What takes long, or much, by name: uploads are endpoints with a file, all others say so in their contract. */
const kinds = {
  // Each holds a file on disk, which has a budget of its own. A slow client must not hold up other accounts.
  upload: { total: Number.POSITIVE_INFINITY },
  // Each holds a database connection.
  export: { total: 3 },
  search: { total: 4 },
  // A page of a megabyte is parsed and written in one turn of the event loop.
  page: { total: 16 },
} as const;
type Kind = keyof typeof kinds;

/** Of an account, and of a credential, at the same time. */
const shares = { perLane: 2, perCaller: 1 };
/** Less than a gateway waits, and enough for short ones of one client to follow each other. */
const patience = { maxWaiting: 32, maxWaitMs: 10_000 };

export interface SlowWork {
  /**
   * Waits until it is the caller's turn. Resolves with a function that ends the turn. Throws `unavailable` if too many wait, or
   * if the client has left.
   */
  begin(
    contract: Endpoint,
    caller: Principal | DeviceIdentity | CallerName | undefined,
    res: Response,
  ): Promise<() => void>;
}

/** Lets accounts, and their credentials, take turns with what is slow (uploads, exports, searches), in this process. */
export function createSlowWork(registry: Registry, service: string): SlowWork {
  const registers = [registry];
  const refused = new Counter({
    name: 'turns_refused_total',
    help: 'Uploads, exports and searches that were refused because others of the account did not end in time',
    labelNames: ['service', 'kind'],
    registers,
  });
  const pools = Object.entries(kinds).map(([kind, options]): [string, Turns] => {
    refused.inc({ service, kind }, 0);
    const busy = () => {
      refused.inc({ service, kind });
      return new Problem('unavailable', 'Others of yours are in progress. Try again.', { 'retry-after': '5' });
    };
    return [kind, createTurns({ ...options, ...shares, ...patience, busy })];
  });
  const byKind = new Map(pools);
  new Gauge({
    name: 'turns',
    help: 'Uploads, exports and searches that are in progress, or wait for their turn',
    labelNames: ['service', 'kind', 'state'],
    registers,
    collect() {
      for (const [kind, { running, waiting }] of pools) {
        this.set({ service, kind, state: 'running' }, running);
        this.set({ service, kind, state: 'waiting' }, waiting);
      }
    },
  });

  return {
    async begin(contract, caller, res) {
      const kind: Kind | undefined = contract.upload ? 'upload' : contract.turns;
      const turns = kind && byKind.get(kind);
      if (!turns || typeof caller !== 'object') return () => {};
      const leaving = new AbortController();
      const leave = () => leaving.abort(new Problem('unavailable', 'The client has left.'));
      if (res.closed) leave();
      res.once('close', leave);
      try {
        return await turns.take({ lane: caller.accountId, caller: caller.id }, leaving.signal);
      } finally {
        res.off('close', leave);
      }
    },
  };
}
