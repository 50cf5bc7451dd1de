import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, json, loops, sockets, some, stalled, upload } from '../attack.ts';
import { randomIp } from '../clients.ts';

const megabyte = 1_048_576;

/** What takes memory or disk: bodies that stall, large rows, and files. */
export const bodies: readonly Attack[] = [
  {
    name: 'bodies without a token that stall',
    async start(target) {
      const headers = [`X-Forwarded-For: ${randomIp()}`];
      return sockets(400, target, stalled('/v2/auth/login', headers, 16_000, 15_000));
    },
  },
  {
    name: 'large bodies with a token that stall',
    async start(target) {
      const headers = [`X-Forwarded-For: ${randomIp()}`, `Authorization: Bearer ${target.attacker.token}`];
      return sockets(400, target, stalled('/v2/campaigns', headers, megabyte, 1_000_000));
    },
  },
  {
    name: 'lists of large campaigns',
    async prepare(target) {
      const { token } = target.attacker;
      const body = json({ name: 'Large', metadata: { text: 'x'.repeat(32_000) } });
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        'x-forwarded-for': randomIp(),
      };
      for (let n = 0; n < some(150, target); n++) {
        const made = await fetch(`${target.url}/v2/campaigns`, { method: 'POST', headers, body });
        await made.arrayBuffer();
      }
    },
    async start(target) {
      const { token } = target.attacker;
      return loops(40, target, () => ({ path: '/v2/campaigns?limit=200', method: 'GET', token }));
    },
  },
  {
    name: 'uploads that stall',
    async start(target) {
      const headers = [`X-Forwarded-For: ${randomIp()}`, `Authorization: Bearer ${target.attacker.token}`];
      const text = stalled('/v2/estate/imports', headers, 128 * megabyte, 4_000_000);
      return sockets(40, target, text.replace('application/json', 'application/x-ndjson'));
    },
  },
  {
    name: 'whole uploads at once',
    async start(target) {
      const stopping = new AbortController();
      function* emptyLines() {
        for (let n = 0; n < some(128, target); n++) yield '\n'.repeat(megabyte);
      }
      const loop = async () => {
        while (!stopping.signal.aborted) {
          const answer = await upload(target, emptyLines(), stopping.signal);
          await answer?.arrayBuffer().catch(() => {});
          target.onAnswer(String(answer?.status ?? 'cut'));
          if (!answer?.ok) await sleep(5);
        }
      };
      const running = Promise.all(Array.from({ length: some(8, target) }, loop));
      return async () => {
        stopping.abort();
        await running;
        return undefined;
      };
    },
  },
];
