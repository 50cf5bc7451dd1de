/**
 * A gateway in a process of its own, which measures what its buffers hold. Nothing else is in that memory: neither the
 * client's buffers and the service's, nor all that a worker of Jest has loaded, through which each forced collection would go.
 *
 *     node --expose-gc uploads.process.ts <URL of all services> <public keys>
 *
 * Sends `{ port }` when it listens. Told `watch`, it begins to measure; told `most`, it sends `{ most }`, the most bytes
 * that its buffers held since then beyond what they held before.
 */
import { listen } from '@attribution/http';
import { captureLogs, problemBase } from '@attribution/testing';
import { createGateway, readGatewaySettings } from '../src/index.ts';

const [url = '', publicKeys = ''] = process.argv.slice(2);
const settings = readGatewaySettings({
  ACCOUNT_URL: url,
  ORGANIZATION_URL: url,
  CAMPAIGN_URL: url,
  BILLING_URL: url,
  TOKEN_PUBLIC_KEYS: publicKeys,
  PROBLEM_BASE: problemBase,
});
const gateway = createGateway(settings, captureLogs('gateway').logger);
const server = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase });

/** Bytes in buffers that somebody still holds. */
function held(): number {
  globalThis.gc?.();
  return process.memoryUsage().arrayBuffers;
}

/** A test that has failed listens no more. */
const tell = (message: object) => process.send?.(message, () => {});

let before = 0;
let most = 0;
let timer: NodeJS.Timeout | undefined;
const look = () => {
  most = Math.max(most, held() - before);
};

process.on('message', (told) => {
  if (told === 'watch') {
    before = held();
    timer = setInterval(look, 50);
    tell({ watching: true });
  } else {
    clearInterval(timer);
    look();
    tell({ most });
  }
});
process.on('disconnect', () => process.exit(0));
tell({ port: server.port });
