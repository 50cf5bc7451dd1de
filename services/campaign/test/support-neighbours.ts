import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTokenHold } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { testInternal } from '@attribution/testing';
import type { z } from 'zod';
import { startCampaign } from './support.ts';

type Hold = z.output<typeof createTokenHold.body> & {
  id: string;
  status: 'pending' | 'captured' | 'voided';
  captured: number;
};

async function serve(answer: (req: IncomingMessage, res: ServerResponse) => Promise<void>) {
  const server = createServer(
    (req, res) => void answer(req, res).catch((error: unknown) => res.destroy(error as Error)),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((done) => server.close(() => done()).closeAllConnections()),
  };
}

const json = (res: ServerResponse, status: number, body: object, media = 'application/json') =>
  void res.writeHead(status, { 'content-type': media }).end(JSON.stringify(body));
const refuse = (res: ServerResponse, status: number, kind: string, detail: string) =>
  json(res, status, { type: `https://problems.test/${kind}`, title: kind, status, detail }, 'application/problem+json');

/** Stand-ins for Account, which holds tokens, and Billing, which names a price. */
async function startNeighbours() {
  const verify = { account: testInternal('account').verify, billing: testInternal('billing').verify };
  const holds = new Map<string, Hold>();
  const state = { price: 3, available: 1_000_000, away: new Set<'account' | 'capture' | 'billing'>() };

  const shown = ({ id, account_id, amount, captured, description, status }: Hold) => {
    const at = new Date().toISOString();
    const resolved_at = status === 'pending' ? null : at;
    return {
      id,
      account_id,
      amount,
      captured_amount: captured,
      status,
      description,
      expires_at: at,
      created_at: at,
      resolved_at,
    };
  };

  const account = await serve(async (req, res) => {
    const text = Buffer.concat(await req.toArray()).toString();
    if (verify.account(req.headers.authorization) !== 'campaign') throw new Error('Nobody else asks here');
    if (state.away.has('account')) return refuse(res, 503, 'unavailable', 'Away');
    if (req.url === createTokenHold.path) {
      const body = createTokenHold.body.parse(JSON.parse(text));
      const known = holds.get(body.idempotency_key);
      if (known) return json(res, 201, shown(known));
      if (body.amount > state.available) return refuse(res, 402, 'insufficient-balance', 'There are too few tokens.');
      const hold: Hold = { ...body, id: newId('token_hold'), status: 'pending', captured: 0 };
      holds.set(body.idempotency_key, hold);
      return json(res, 201, shown(hold));
    }
    const [, id, step] = /^\/internal\/v2\/token-holds\/([^/]+)\/(capture|void)$/.exec(req.url ?? '') ?? [];
    const hold = [...holds.values()].find((one) => one.id === id);
    if (!hold) throw new Error(`Nothing at ${req.url}`);
    const wanted = step === 'capture' ? 'captured' : 'voided';
    if (step === 'capture' && state.away.has('capture')) return refuse(res, 503, 'unavailable', 'Away');
    if (hold.status !== 'pending' && hold.status !== wanted)
      return refuse(res, 409, 'conflict', `It is ${hold.status}.`);
    if (hold.status === 'pending')
      Object.assign(hold, { status: wanted, captured: step === 'capture' ? JSON.parse(text).amount : 0 });
    return json(res, 200, shown(hold));
  });

  const billing = await serve(async (req, res) => {
    if (verify.billing(req.headers.authorization) !== 'campaign') throw new Error('Nobody else asks here');
    if (state.away.has('billing')) return refuse(res, 503, 'unavailable', 'Away');
    json(res, 200, { action: 'score_ad', unit: 'ad', token_amount: state.price, description: 'Scoring one ad' });
  });

  return {
    /** Settings of a service that calls them. */
    environment: { ACCOUNT_URL: account.url, BILLING_URL: billing.url },
    state,
    holds: () => [...holds.values()],
    holdsOf: (accountId: string) => [...holds.values()].filter(({ account_id }) => account_id === accountId),
    stop: () => Promise.all([account.close(), billing.close()]),
  };
}

/** Starts Campaign next to its neighbours. */
export async function startAmongNeighbours() {
  const neighbours = await startNeighbours();
  const service = await startCampaign(neighbours.environment);
  const stop = async () => {
    await service.stop();
    await neighbours.stop();
  };
  return { service, neighbours, stop };
}
