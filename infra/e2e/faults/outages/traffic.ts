import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createCampaign,
  createGroup,
  deleteGroup,
  getMe,
  listCampaigns,
  listGroups,
  signup,
  updateGroup,
} from '@attribution/contracts';
import { type Exchange, type ExchangeRequest, exchange } from './exchange.ts';

/** The ids in successful responses, whose effects must not be lost. */
export interface Acknowledged {
  readonly accounts: Set<string>;
  readonly groups: Set<string>;
  readonly deletedGroups: Set<string>;
  readonly campaigns: Set<string>;
}

export interface Traffic {
  /** Returns the exchanges since the last call. */
  take(): Exchange[];
  readonly acknowledged: Acknowledged;
  /** Sends one of each kind of write and resolves with whether all were done. */
  tryOnce(): Promise<boolean>;
  /** Resolves when all requests have ended. */
  stop(): Promise<void>;
}

export interface TrafficOptions {
  readonly url: string;
  /** Returns an owner's token; called for each request, because a token is valid for 15 minutes. */
  readonly token: () => string;
  /** Milliseconds between a response and the next request of a lane. */
  readonly pause: number;
}

const password = 'a long walk at dawn';
const reads = [listGroups, getMe, listCampaigns] as const;

/** Keeps sending reads and writes of all kinds in several sequential lanes, and records every response. */
export function startTraffic({ url, token, pause }: TrafficOptions): Traffic {
  const agent = new Agent({ keepAlive: true });
  const exchanges: Exchange[] = [];
  const acknowledged: Acknowledged = {
    accounts: new Set(),
    groups: new Set(),
    deletedGroups: new Set(),
    campaigns: new Set(),
  };
  let stopping = false;

  async function send(request: ExchangeRequest): Promise<Exchange> {
    const sent = await exchange(url, agent, { token: token(), ...request });
    exchanges.push(sent);
    return sent;
  }
  const note = (set: Set<string>, id: unknown) => typeof id === 'string' && set.add(id);

  const kinds = {
    async signUp() {
      const email = `outage-${randomBytes(6).toString('hex')}@example.com`;
      const sent = await send({ what: 'sign-up', endpoint: signup, body: { email, password, full_name: 'Ada' } });
      note(acknowledged.accounts, sent.body.account_id);
      return sent;
    },
    async group() {
      const sent = await send({ what: 'group', endpoint: createGroup, body: { name: 'North' } });
      note(acknowledged.groups, sent.body.id);
      return sent;
    },
    async campaign() {
      const sent = await send({ what: 'campaign', endpoint: createCampaign, body: { name: 'Boots' } });
      note(acknowledged.campaigns, sent.body.id);
      return sent;
    },
    /** Created, changed and deleted: a receiver that handles the events in another order keeps a deleted group. */
    async shortLivedGroup() {
      const made = await send({ what: 'group', endpoint: createGroup, body: { name: 'Pop-up' } });
      const { id } = made.body;
      if (typeof id !== 'string') return made;
      await send({ what: 'change', endpoint: updateGroup, id, body: { name: 'Closing' } });
      const gone = await send({ what: 'deletion', endpoint: deleteGroup, id });
      // A deletion that was not acknowledged may have happened or not, so the group is not checked.
      if (gone.outcome === 'done') acknowledged.deletedGroups.add(id);
      return gone;
    },
  };
  let turn = 0;
  const read = () => {
    const endpoint = reads[turn++ % reads.length] ?? listGroups;
    return send({ what: 'read', endpoint });
  };

  const writes = Object.values(kinds);
  const lanes = [...writes, read, read].map(async (next) => {
    while (!stopping) {
      await next();
      await sleep(pause);
    }
  });
  return {
    take: () => exchanges.splice(0),
    acknowledged,
    async tryOnce() {
      const sent = await Promise.all(writes.map((write) => write()));
      return sent.every(({ outcome }) => outcome === 'done');
    },
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      agent.destroy();
    },
  };
}
