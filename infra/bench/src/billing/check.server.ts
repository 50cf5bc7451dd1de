/** Runs the nightly check of a ledger, as `ops ledgers` does, at each request. Responds with what it found. */
import { createServer } from 'node:http';
import { loadService, type RegisteredName } from '@attribution/registry';
import { given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const service = await loadService(given('SERVICE') as RegisteredName);
const operations = service.openOperations({
  url: given('DATABASE_URL'),
  environment: process.env,
  clock: { now: () => new Date() },
});

const server = createServer((_req, res) => {
  operations
    .checkLedger?.(() => {})
    .then((checked) => res.end(JSON.stringify(checked)))
    .catch((error: unknown) => res.writeHead(500).end(String(error)));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
