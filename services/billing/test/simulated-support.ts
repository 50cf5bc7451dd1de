import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { captureLogs, createTestClock } from '@attribution/testing';
import { createSimulatedProvider } from '../src/provider/simulated/index.ts';
import type { OpenProvider } from './provider-support.ts';

export const numbers = {
  succeeds: '4242 4242 4242 4242',
  declined: '4000000000000002',
  insufficient_funds: '4000000000009995',
  fails_later: '4000000000000341',
  authenticates: '4000000000003220',
  authenticates_always: '4000002760003184',
  disputed: '4000000000000259',
  pays_late: '4000000000007700',
  fails_late: '4000000000007718',
  warned: '4000000000005423',
};
export type CardName = keyof typeof numbers;

/** `port` 0 picks a free one. */
export async function serve(handler: RequestListener, port = 0) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

interface Options {
  readonly file?: string;
  readonly webhookUrl?: string;
  readonly clock?: ReturnType<typeof createTestClock>;
  readonly logs?: ReturnType<typeof captureLogs>;
}

/** The simulated provider with its pages on their own port, and a browser that fills them in. */
export async function openSimulated(options: Options = {}) {
  const { file = ':memory:', webhookUrl, clock = createTestClock(), logs = captureLogs() } = options;
  const secrets = ['whsec_new', 'whsec_old'];
  let app: RequestListener = (_req, res) => res.writeHead(503).end();
  const { url, close } = await serve((req, res) => app(req, res));
  const simulated = createSimulatedProvider({
    file,
    clock,
    baseUrl: () => `${url}/`,
    ...(webhookUrl !== undefined && { webhook: { url: webhookUrl, secrets } }),
    logger: logs.logger,
  });
  ({ app } = simulated);

  const opened = {
    ...simulated,
    secrets,
    clock,
    logs,
    url,
    now: () => clock.now(),
    pay: async (checkout: { readonly url: string | null }, card: CardName) => {
      await send(checkout.url ?? '', typed(card));
    },
    saveCard: async (clientSecret: string, card: CardName) => {
      await send(`${url}/setup/${clientSecret}`, typed(card));
    },
    confirm: async (page: string | null) => {
      await send(page ?? '', { action: 'confirm' });
    },
    decide: async (payment: { readonly receipt_url: string | null }, outcome: 'won' | 'lost') => {
      await send(payment.receipt_url ?? '', { action: outcome === 'won' ? 'win' : 'lose' });
    },
    close: async () => {
      await simulated.stop();
      await close();
    },
  };
  return opened satisfies OpenProvider;
}

/** The form fields of a customer. */
export const typed = (card: CardName, over: Record<string, string> = {}) => {
  return { action: 'pay', number: numbers[card], expiry: '11/39', cvc: '123', ...over };
};

export async function send(page: string, fields: Record<string, string>) {
  const answer = await fetch(page, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
  return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() };
}

export async function look(page: string) {
  const answer = await fetch(page, { redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
