import { setTimeout as sleep } from 'node:timers/promises';
import { createCampaign, createClient, createGroup, type Endpoint, endpoints } from '@attribution/contracts';
import { registeredNames } from '@attribution/registry';
import { newOwner } from '../outages/owner.ts';
import type { SeparateWorld } from './world.ts';

export interface Others {
  stop(): Promise<{ readonly asked: number; readonly failed: number }>;
}

type Ask = () => Promise<{ readonly problem?: unknown }>;

const pause = 50;

/** Nothing has to be there already for somebody who is logged in to be answered. */
const isPlainRead = ({ method, params, success, access }: Endpoint) =>
  method === 'GET' && !params && !success.download && (access.credential === 'any' || access.credential === 'person');

/** Somebody who has come before goes on asking every service but one, and counts what is not done. */
export async function askOthers(world: SeparateWorld, but: string): Promise<Others> {
  const { token } = await newOwner(world.url, world.mailDirectory);
  const client = createClient({ baseUrl: world.url, token });
  const writes: Partial<Record<string, Ask>> = {
    organization: () => client.call(createGroup, { body: { name: 'Beside' } }),
    campaign: () => client.call(createCampaign, { body: { name: 'Beside' } }),
  };
  const asks = registeredNames.flatMap((service): Ask[] => {
    const read = endpoints.find((endpoint) => endpoint.service === service && isPlainRead(endpoint));
    const ask = writes[service] ?? (read && (() => client.call(read)));
    return ask && service !== but ? [ask] : [];
  });
  let [asked, failed, stopping] = [0, 0, false];
  async function keepAsking(ask: Ask): Promise<void> {
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
  const lanes = asks.map(keepAsking);
  return {
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      return { asked, failed };
    },
  };
}
