/**
 * The gateway as `gateway/src/main.ts` runs it, read by a Prometheus that is not there. Its log, at level info, goes to
 * the file `LOG_FILE`. With `METRICS=off` nothing is counted or timed, to see what that costs.
 */
import { createGateway, readGatewaySettings } from '@attribution/gateway';
import { listen } from '@attribution/http';
import { createLogger, observeProcess, openProcessTracing, writeMetrics } from '@attribution/runtime';
import { pino } from 'pino';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

/** Milliseconds between two looks at the metrics: as infra/observability/prometheus has it. */
const scraped = 5_000;

const measured = process.env.METRICS !== 'off';
if (measured) observeProcess({ service: 'gateway', role: 'api' });
const settings = readGatewaySettings(process.env);
const destination = pino.destination({ dest: given('LOG_FILE'), sync: true });
const logger = createLogger({ name: 'gateway', level: settings.LOG_LEVEL, destination });
const tracing = await openProcessTracing(settings, { service: 'gateway', role: 'api', logger });
const gateway = createGateway(settings, logger, tracing, measured ? undefined : { observe() {} });
if (measured) setInterval(() => void writeMetrics(gateway.registry), scraped);
const { port } = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase: settings.PROBLEM_BASE });
announce(`http://127.0.0.1:${port}`);
endOnSignal();
