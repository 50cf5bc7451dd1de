import { setTimeout as sleep } from 'node:timers/promises';
import { keptByClients, listen, problemOf, writeProblem } from '@attribution/http';
import {
  attemptWithin,
  createLogger,
  delayFullCollections,
  observeProcess,
  onStopSignal,
  openProcessTracing,
  stopTimeoutMs,
  writeMetrics,
} from '@attribution/runtime';
import { readGatewaySettings } from './config.ts';
import { createGateway } from './gateway.ts';

delayFullCollections();
observeProcess({ service: 'gateway', role: 'api' });
const settings = readGatewaySettings(process.env);
const logger = createLogger({ name: 'gateway', level: settings.LOG_LEVEL, pretty: process.stdout.isTTY });
const tracing = await openProcessTracing(settings, { service: 'gateway', role: 'api', logger });
const gateway = createGateway(settings, logger, { tracing });
const server = await listen(gateway.handle, {
  host: settings.HOST,
  port: settings.PORT,
  problemBase: settings.PROBLEM_BASE,
  clientTimeout: settings.CLIENT_TIMEOUT_MS,
  connectionCap: gateway.connectionCap,
});
const admin =
  settings.ADMIN_PORT === undefined
    ? undefined
    : await listen(
        (_req, res) => {
          writeMetrics(gateway.registry).then(
            (text) => res.setHeader('content-type', gateway.registry.contentType).end(text),
            (error: unknown) => writeProblem(res, problemOf(error), settings.PROBLEM_BASE),
          );
        },
        { host: settings.HOST, port: settings.ADMIN_PORT, problemBase: settings.PROBLEM_BASE },
      );
logger.info({ port: server.port }, 'Listening');

onStopSignal(async () => {
  gateway.retire();
  await sleep(settings.LAME_DUCK_MS);
  await server.close(Date.now() + stopTimeoutMs - 1_000, keptByClients);
  await admin?.close(0);
  await gateway.close();
  await attemptWithin(500, () => tracing.close());
  logger.info('Stopped');
}, settings.LAME_DUCK_MS + stopTimeoutMs);
