import { setTimeout as sleep } from 'node:timers/promises';
import {
  createCampaign,
  createClient,
  createGroup,
  type Endpoint,
  endpoints,
  timezoneOf,
} from '@attribution/contracts';
import { registeredNames } from '@attribution/registry';
import { newOwner } from '../outages/owner.ts';
import type { SeparateWorld } from './world.ts';

export interface OtherTraffic {
  stop(): Promise<{ readonly sent: number; readonly failed: number }>;
}

type Request = () => Promise<{ readonly problem?: unknown }>;

const pauseMs = 50;

/** A read that succeeds for every person who is logged in, whatever the account contains. */
const isPlainRead = ({ method, params, query, success, access }: Endpoint) =>
  method === 'GET' &&
  !params &&
  (query?.safeParse({}).success ?? true) &&
  !success.download &&
  (access.credential === 'any' || access.credential === 'person');

/** Keeps sending requests of one owner to every service except one, and counts those that fail. */
export async function sendToOtherServices(world: SeparateWorld, except: string): Promise<OtherTraffic> {
  const { token } = await newOwner(world.url, world.mailDirectory);
  const client = createClient({ baseUrl: world.url, token });
  const known: Partial<Record<string, Request>> = {
    organization: () => client.call(createGroup, { body: { name: 'Beside' } }),
    campaign: () => client.call(createCampaign, { body: { name: 'Beside' } }),
    utilities: () => client.call(timezoneOf, { query: { latitude: '47.3686', longitude: '8.5392' } }),
  };
  const requests = registeredNames.flatMap((service): Request[] => {
    const read = endpoints.find((endpoint) => endpoint.service === service && isPlainRead(endpoint));
    const request = known[service] ?? (read && (() => client.call(read)));
    return request && service !== except ? [request] : [];
  });
  let [sent, failed, stopping] = [0, 0, false];
  async function keepSending(request: Request): Promise<void> {
    while (!stopping) {
      const done = await request().then(
        ({ problem }) => problem === undefined,
        () => false,
      );
      sent++;
      if (!done) failed++;
      await sleep(pauseMs);
    }
  }
  const lanes = requests.map(keepSending);
  return {
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      return { sent, failed };
    },
  };
}
