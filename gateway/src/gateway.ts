import type { IncomingMessage, ServerResponse } from 'node:http';
import { createVerifier } from '@attribution/auth';
import { endpoints, type ServiceName } from '@attribution/contracts';
import { type HttpMetrics, observeHttp } from '@attribution/http';
import { noTracing, type Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { GatewaySettings } from './config.ts';
import { createForwarder } from './forwarder.ts';
import { observeGateway } from './metrics.ts';
import { createPipeline } from './pipeline.ts';
import { createRateLimiter } from './rate-limit.ts';
import { openSharedCounts } from './redis.ts';
import { createSite } from './site.ts';
import { upstreamHealth } from './upstream-health.ts';

export interface Gateway {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly registry: Registry;
  /** From now on `/readyz` fails, while requests are still served. */
  retire(): void;
  close(): Promise<void>;
}

/** The public edge: every request of a client enters here. */
export function createGateway(
  settings: GatewaySettings,
  logger: Logger,
  tracing: Tracing = noTracing,
  metrics?: HttpMetrics,
): Gateway {
  const { upstreams } = settings;
  const registry = new Registry();
  const counts = observeGateway(registry, Object.keys(upstreams) as ServiceName[]);
  const shared = settings.REDIS_URL
    ? openSharedCounts(settings.REDIS_URL, settings.REDIS_TIMEOUT_MS, logger)
    : undefined;
  const limiter = createRateLimiter({ endpoints, shared, onFallback: counts.countFallback });
  const forwarder = createForwarder({ upstreams, timeoutMs: settings.UPSTREAM_TIMEOUT_MS });
  const problemBase = settings.PROBLEM_BASE;
  let retired = false;

  const handle = createPipeline({
    endpoints,
    verifier: createVerifier(settings.TOKEN_PUBLIC_KEYS),
    limiter,
    forwarder,
    trustedProxies: settings.TRUSTED_PROXIES,
    corsOrigins: settings.CORS_ORIGINS,
    problemBase,
    logger,
    site: createSite({
      endpoints,
      failingUpstreams: upstreamHealth(upstreams as Record<string, string>),
      stopping: () => retired,
      problemBase,
      logger,
    }),
    metrics: metrics ?? observeHttp(registry, 'gateway'),
    tracing,
    onFailure: counts.countFailure,
  });

  return {
    handle,
    registry,
    retire() {
      retired = true;
    },
    async close() {
      forwarder.close();
      shared?.close();
    },
  };
}
