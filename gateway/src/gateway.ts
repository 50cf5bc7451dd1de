import type { IncomingMessage, ServerResponse } from 'node:http';
import { createVerifier } from '@attribution/auth';
import { endpoints } from '@attribution/contracts';
import { createRegistry, observeHttp } from '@attribution/service';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { type GatewaySettings, upstreamsOf } from './config.ts';
import { createForwarder } from './forwarder.ts';
import { createPipeline } from './pipeline.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createSite } from './site.ts';
import { upstreamHealth } from './upstream-health.ts';

export interface Gateway {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly registry: Registry;
  close(): Promise<void>;
}

/** The public edge. */
export function createGateway(settings: GatewaySettings, logger: Logger): Gateway {
  const upstreams = upstreamsOf(settings);
  const registry = createRegistry();
  const fallbacks = new Counter({
    name: 'rate_limit_fallbacks_total',
    help: 'Counts made in-process because Redis did not answer',
    registers: [registry],
  });
  const redis = settings.REDIS_URL ? connectRedis(settings.REDIS_URL, logger) : undefined;
  const limiter = createRateLimiter({ endpoints, redis, onFallback: () => fallbacks.inc() });
  const forwarder = createForwarder({ upstreams, timeout: settings.UPSTREAM_TIMEOUT_MS });
  const problemBase = settings.PROBLEM_BASE;

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
      problemBase,
      logger,
    }),
    observe: observeHttp(registry, 'gateway').observe,
  });

  return {
    handle,
    registry,
    async close() {
      forwarder.close();
      redis?.disconnect();
    },
  };
}

/** ioredis's defaults queue and retry for seconds: a limit must be judged at once, by Redis or without it. */
function connectRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 50,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
  });
  let down = false;
  redis.on('error', (error) => {
    if (!down) logger.warn({ err: error }, 'Redis is away: rate limits are counted in-process');
    down = true;
  });
  redis.on('ready', () => {
    if (down) logger.info('Redis is back: rate limits are shared again');
    down = false;
  });
  return redis;
}
