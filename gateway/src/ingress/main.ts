import { setTimeout as sleep } from 'node:timers/promises';
import { keptByClients, listen } from '@attribution/http';
import {
  attemptWithin,
  createLogger,
  observeProcess,
  onStopSignal,
  openProcessTracing,
  stopTimeoutMs,
} from '@attribution/runtime';
import { readIngressSettings } from './config.ts';
import { ingressHealth } from './health.ts';
import { createIngress } from './ingress.ts';

observeProcess({ service: 'ingress', role: 'api' });
const settings = readIngressSettings(process.env);
const { HOST: host, PROBLEM_BASE: problemBase } = settings;
const logger = createLogger({ name: 'ingress', level: settings.LOG_LEVEL, pretty: process.stdout.isTTY });
const tracing = await openProcessTracing(settings, { service: 'ingress', role: 'api', logger });
const ingress = createIngress(settings, logger, { tracing });
let retired = false;
const server = await listen(ingress.handle, { ...ingress.listening, host, port: settings.DEVICE_PORT });
const health = ingressHealth({ registry: ingress.registry, stopping: () => retired, problemBase });
const admin = await listen(health, { host, port: settings.PORT, problemBase });
logger.info({ port: server.port }, 'Listening');

onStopSignal(async () => {
  retired = true;
  await sleep(settings.LAME_DUCK_MS);
  await server.close(Date.now() + stopTimeoutMs - 1_000, keptByClients);
  await admin.close(0);
  await ingress.close();
  await attemptWithin(500, () => tracing.close());
  logger.info('Stopped');
}, settings.LAME_DUCK_MS + stopTimeoutMs);
