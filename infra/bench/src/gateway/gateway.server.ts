/**
 * Runs the gateway as `gateway/src/main.ts` does, and writes its metrics as often as Prometheus would read them. Its log
 * goes to the file `LOG_FILE`. `METRICS=off` turns metrics off, to measure what they cost.
 */
import { createGateway, readGatewaySettings } from '@attribution/gateway';
import { listen } from '@attribution/http';
import {
  createLogger,
  delayFullCollections,
  observeProcess,
  openProcessTracing,
  writeMetrics,
} from '@attribution/runtime';
import { pino } from 'pino';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

/** As in infra/observability/prometheus. */
const scrapeIntervalMs = 5_000;

delayFullCollections();
const measured = process.env.METRICS !== 'off';
if (measured) observeProcess({ service: 'gateway', role: 'api' });
const settings = readGatewaySettings(process.env);
const destination = pino.destination({ dest: given('LOG_FILE'), sync: true });
const logger = createLogger({ name: 'gateway', level: settings.LOG_LEVEL, destination });
const tracing = await openProcessTracing(settings, { service: 'gateway', role: 'api', logger });
const gateway = createGateway(settings, logger, { tracing, metrics: measured ? undefined : { observe() {} } });
if (measured) setInterval(() => void writeMetrics(gateway.registry), scrapeIntervalMs);
const { port } = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase: settings.PROBLEM_BASE });
announce(`http://127.0.0.1:${port}`);
endOnSignal();
