import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { BenchDatabase } from '../database.ts';
import { startService } from '../endpoints/start-service.ts';
import type { BenchServer } from '../server.ts';

/** Campaign, as far as Events asks who sees a campaign: everybody sees each. Nothing is said about what came before. */
async function startSight() {
  const server = createServer(async (req, res) => {
    if (req.method !== 'POST') return void res.writeHead(503).end();
    const { ids } = (await json(req)) as { ids: string[] };
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ ids }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts Events, beside a Campaign that shows everybody everything. */
export async function startEvents(database: BenchDatabase, more: Record<string, string> = {}): Promise<BenchServer> {
  const sight = await startSight();
  const server = await startService('events', database, { CAMPAIGN_URL: sight.url, ...more });
  return {
    ...server,
    async stop() {
      await server.stop();
      await sight.stop();
    },
  };
}
