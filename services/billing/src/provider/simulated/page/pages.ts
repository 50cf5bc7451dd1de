import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceDependencies } from '@attribution/service';
import type { Simulation } from '../simulation.ts';
import type { Links } from '../views.ts';
import { checkoutPage } from './checkout-page.ts';
import { readForm } from './form.ts';
import { invoicePage } from './invoice-page.ts';
import { documentOf, notice, type PageOf, policyOf, type Shown } from './layout.ts';
import { receiptPage } from './receipt-page.ts';
import { setupPage } from './setup-page.ts';

const notFound = notice(404, 'Not found', 'There is no such page.');
const failed = notice(503, 'Not now', 'Something failed. Nothing was paid. Try again.');

/** Serves the pages under any base path. `wake` is called when there may be notifications to send. */
export function createPages(
  simulation: Simulation,
  links: Links,
  logger: ServiceDependencies['logger'],
  wake: () => void,
): (req: IncomingMessage, res: ServerResponse) => void {
  const pages: Readonly<Record<string, PageOf>> = {
    checkout: checkoutPage(simulation, links),
    setup: setupPage(simulation),
    receipts: receiptPage(simulation),
    invoices: invoicePage(simulation),
  };

  async function answer(req: IncomingMessage): Promise<Shown> {
    const [, section = '', id = '', ...rest] = (req.url ?? '').split('?')[0]?.split('/') ?? [];
    const page = Object.hasOwn(pages, section) && rest.length === 0 ? pages[section] : undefined;
    if (!page) return notFound;
    if (req.method === 'GET' || req.method === 'HEAD') return page(id, undefined) ?? notFound;
    if (req.method !== 'POST') return notice(405, 'Not so', 'This page is looked at, or its form is sent.');
    const form = await readForm(req);
    if (!form) return notice(400, 'Not so', 'This is not what the form sends.');
    try {
      return page(id, form) ?? notFound;
    } finally {
      wake();
    }
  }

  return (req, res) => {
    answer(req)
      .catch((error: unknown) => {
        logger.error({ err: error }, 'A page of the simulated provider failed');
        return failed;
      })
      .then((shown) => send(req, res, shown))
      .catch(() => res.destroy());
  };
}

function send(req: IncomingMessage, res: ServerResponse, shown: Shown): void {
  res.setHeader('cache-control', 'no-store');
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('x-content-type-options', 'nosniff');
  if (!req.complete) res.setHeader('connection', 'close');
  if ('redirect' in shown) {
    res.writeHead(303, { location: shown.redirect }).end();
    return;
  }
  const body = documentOf(shown);
  res.writeHead(shown.status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': policyOf(shown),
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}
