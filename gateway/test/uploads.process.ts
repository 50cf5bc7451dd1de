/**
 * A gateway in a process of its own, which measures the memory of its buffers. This memory contains neither the buffers
 * of the client and the service, nor the modules of a Jest worker, which would slow every forced collection down.
 *
 *     node --expose-gc uploads.process.ts <URL of all services> <public keys>
 *
 * Sends `{ port }` when it listens. On the message `watch` it begins to measure; on `maximum` it sends `{ maximum }`, by
 * how many bytes its buffers grew since then at most.
 */
import { listen } from '@attribution/http';
import { captureLogs, problemBase } from '@attribution/testing';
import { createGateway, readGatewaySettings, upstreamsAt } from '../src/index.ts';

const [url = '', publicKeys = ''] = process.argv.slice(2);
const settings = readGatewaySettings({
  ...upstreamsAt(() => url),
  TOKEN_PUBLIC_KEYS: publicKeys,
  PROBLEM_BASE: problemBase,
});
const gateway = createGateway(settings, captureLogs('gateway').logger);
const server = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase });

/** Bytes in buffers that are still referenced. */
function bufferedBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().arrayBuffers;
}

/** Errors are ignored: a test that has failed may have closed the channel. */
const sendToTest = (message: object) => process.send?.(message, () => {});

let before = 0;
let maximum = 0;
let timer: NodeJS.Timeout | undefined;
const measure = () => {
  maximum = Math.max(maximum, bufferedBytes() - before);
};

process.on('message', (message) => {
  if (message === 'watch') {
    before = bufferedBytes();
    timer = setInterval(measure, 50);
    sendToTest({ watching: true });
  } else {
    clearInterval(timer);
    measure();
    sendToTest({ maximum });
  }
});
process.on('disconnect', () => process.exit(0));
sendToTest({ port: server.port });
