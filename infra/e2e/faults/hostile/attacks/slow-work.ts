import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, json, loops, some, type Target, upload } from '../attack.ts';
import { randomIp } from '../clients.ts';

/** What takes the processor's or a database's time. */
export const slowWork: readonly Attack[] = [
  {
    name: 'an import of names that are as long as they may be',
    async start(target) {
      const sent = upload(target, longNames(some(78_000, target)));
      return async () => {
        const answer = await sent;
        const { id } = ((await answer?.json().catch(() => undefined)) ?? {}) as { id?: string };
        return id === undefined ? `the import was refused (${answer?.status ?? 'cut'})` : untilEnded(target, id);
      };
    },
  },
  {
    name: 'searches and exports, in loops',
    async start(target) {
      const { token } = target.attacker;
      return loops(100, target, (n) => ({
        path: n % 2 === 0 ? '/v2/screens/match?tags=window' : '/v2/estate/export',
        method: 'GET',
        token,
      }));
    },
  },
  {
    name: 'exports by one key, in loops',
    async start(target) {
      const token = await newKeyToken(target);
      return loops(60, target, () => ({ path: '/v2/estate/export', method: 'GET', token }));
    },
  },
];

/** The rows of zones whose parents do not exist, each with another name: 121 MiB of them are 78,000. */
function* longNames(count: number): Generator<string> {
  const name = 'ā'.repeat(395);
  const rowsPerPiece = 100;
  for (let first = 0; first < count; first += rowsPerPiece) {
    let piece = '';
    for (let n = first; n < Math.min(count, first + rowsPerPiece); n++) {
      const own = `${name}${String(n).padStart(5, '0')}`;
      piece += `${json({ kind: 'zone', external_id: own, parent: own })}\n`;
    }
    yield piece;
  }
}

/** An import may take its time, but it ends. */
async function untilEnded({ url, attacker }: Target, id: string): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${attacker.token}`, 'x-forwarded-for': randomIp() };
  for (const deadline = Date.now() + 180_000; Date.now() < deadline; await sleep(200)) {
    const answer = await fetch(`${url}/v2/estate/imports/${id}`, { headers }).catch(() => undefined);
    const job = (await answer?.json().catch(() => undefined)) as { finished_at?: string | null } | undefined;
    if (job?.finished_at) return undefined;
  }
  return 'the import has not ended within 180 s';
}

/** The token of a new key that may read. */
async function newKeyToken({ url, attacker }: Target): Promise<string> {
  const post = async (path: string, headers: Record<string, string>, body?: string) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-forwarded-for': randomIp(), ...headers },
      ...(body !== undefined && { body }),
    });
    return (await answer.json()) as Record<string, string>;
  };
  const own = { authorization: `Bearer ${attacker.token}`, 'content-type': 'application/json' };
  const key = await post('/v2/api-keys', own, json({ name: 'Exports' }));
  const both = { 'x-access-key-id': key.access_key_id ?? '', 'x-access-key-secret': key.access_key_secret ?? '' };
  return (await post('/v2/auth/api-token', both)).access_token ?? '';
}
