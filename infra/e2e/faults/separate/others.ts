import { setTimeout as sleep } from 'node:timers/promises';
import { createCampaign, createClient, createGroup, getMe, listPayments } from '@attribution/contracts';
import { newOwner } from '../outages/owner.ts';
import type { SeparateWorld } from './world.ts';

export interface Others {
  stop(): Promise<{ readonly asked: number; readonly failed: number }>;
}

const pause = 50;

/** Somebody who has come before goes on asking every service but one, and counts what is not done. */
export async function askOthers(world: SeparateWorld, but: string): Promise<Others> {
  const { token } = await newOwner(world.url, world.mailDirectory);
  const client = createClient({ baseUrl: world.url, token });
  const all: Readonly<Record<string, () => Promise<{ readonly problem?: unknown }>>> = {
    account: () => client.call(getMe),
    organization: () => client.call(createGroup, { body: { name: 'Beside' } }),
    campaign: () => client.call(createCampaign, { body: { name: 'Beside' } }),
    billing: () => client.call(listPayments),
  };
  const chosen = Object.entries(all).flatMap(([service, ask]) => (service === but ? [] : [ask]));
  let [asked, failed, stopping] = [0, 0, false];
  async function keepAsking(ask: () => Promise<{ readonly problem?: unknown }>): Promise<void> {
    while (!stopping) {
      const done = await ask().then(
        ({ problem }) => problem === undefined,
        () => false,
      );
      asked++;
      if (!done) failed++;
      await sleep(pause);
    }
  }
  const lanes = chosen.map(keepAsking);
  return {
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      return { asked, failed };
    },
  };
}
