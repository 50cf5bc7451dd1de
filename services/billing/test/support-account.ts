import { createTokenHold } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { testInternal } from '@attribution/testing';
import type { z } from 'zod';
import { serve } from './simulated-support.ts';

type Hold = z.output<typeof createTokenHold.body>;

/** A stand-in for account: makes the requested holds, unless a test sets another response. */
export async function startAccountDouble() {
  const { verify } = testInternal('account');
  const holds = new Map<string, Hold & { readonly id: string }>();
  let refusal: { status: number; kind: string; detail: string } | undefined;
  let asked = 0;
  const { url, close } = await serve(async (req, res) => {
    asked++;
    if (verify(req.headers.authorization) !== 'billing') throw new Error('Nobody else asks here');
    if (`${req.method} ${req.url}` !== `POST ${createTokenHold.path}`) throw new Error(`Nothing at ${req.url}`);
    const body = createTokenHold.body.parse(JSON.parse(Buffer.concat(await req.toArray()).toString()));
    if (refusal) {
      const { status, kind, detail } = refusal;
      res.writeHead(status, { 'content-type': 'application/problem+json' });
      res.end(JSON.stringify({ type: `https://problems.test/${kind}`, title: kind, status, detail }));
      return;
    }
    const hold = holds.get(body.idempotency_key) ?? { ...body, id: newId('token_hold') };
    holds.set(body.idempotency_key, hold);
    const at = new Date().toISOString();
    const { id, account_id, amount, description } = hold;
    const shown = { id, account_id, amount, captured_amount: 0, status: 'pending', description };
    res.writeHead(201, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ ...shown, expires_at: at, created_at: at, resolved_at: null }));
  });
  return {
    url,
    /** By idempotency key. */
    holds,
    /** Requests so far. */
    asked: () => asked,
    /** The response from now on; undefined restores normal holds. */
    refuse(problem: typeof refusal) {
      refusal = problem;
    },
    stop: close,
  };
}
