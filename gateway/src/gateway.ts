import type { IncomingMessage, ServerResponse } from 'node:http';
import { createVerifier } from '@attribution/auth';
import { auditKeeper, endpoints, type ServiceName } from '@attribution/contracts';
import {
  type ByteBudget,
  type ConnectionCap,
  createByteBudget,
  type HttpMetrics,
  observeBudget,
  observeHttp,
  observeRefusals,
} from '@attribution/http';
import { withDeadline } from '@attribution/runtime';
import { noTracing, type Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { bearer } from './bearer.ts';
import { createClientShares } from './client-shares.ts';
import type { GatewaySettings } from './config.ts';
import { createForwarder } from './forwarder.ts';
import { observeGateway } from './metrics.ts';
import { createPipeline } from './pipeline.ts';
import { createRateLimiter } from './rate-limit.ts';
import { openSharedCounts } from './redis.ts';
import { createRefusalReports } from './refusals.ts';
import { createSite } from './site.ts';
import { upstreamHealth } from './upstream-health.ts';

/** How long a stopping gateway waits for its last reports. */
const reportTimeoutMs = 500;

export interface Gateway {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  readonly registry: Registry;
  /** For the public port. */
  readonly connectionCap: ConnectionCap;
  /** From now on `/readyz` fails, while requests are still served. */
  retire(): void;
  close(): Promise<void>;
}

interface GatewayOptions {
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
  readonly metrics?: HttpMetrics | undefined;
  /** What the process may hold of request bodies. Default: a budget of its own. */
  readonly bodies?: ByteBudget;
}

/** The public edge: every request of a client enters here. */
export function createGateway(settings: GatewaySettings, logger: Logger, options: GatewayOptions = {}): Gateway {
  const { upstreams } = settings;
  const { tracing = noTracing, metrics, bodies = createByteBudget({ limit: settings.BODY_BUDGET_BYTES }) } = options;
  const registry = new Registry();
  observeBudget(registry, 'gateway', 'bodies', bodies);
  const counts = observeGateway(registry, Object.keys(upstreams) as ServiceName[]);
  const shared = settings.REDIS_URL
    ? openSharedCounts(settings.REDIS_URL, settings.REDIS_TIMEOUT_MS, logger)
    : undefined;
  const limiter = createRateLimiter({ endpoints, shared, onFallback: counts.countFallback });
  const forwarder = createForwarder({ upstreams, timeoutMs: settings.UPSTREAM_TIMEOUT_MS });
  const problemBase = settings.PROBLEM_BASE;
  const shares = createClientShares(settings.TRUSTED_PROXIES, settings.CONNECTIONS_PER_CLIENT, counts.countRefusal);
  const refusals = createRefusalReports({
    url: upstreams[auditKeeper] ?? '',
    keys: settings.INTERNAL_PRIVATE_KEYS,
    onLost: observeRefusals(registry, 'gateway'),
    logger,
  });
  let retired = false;

  const handle = createPipeline({
    endpoints,
    authenticate: bearer(createVerifier(settings.TOKEN_PUBLIC_KEYS), refusals),
    limiter,
    forwarder,
    bodies,
    shares,
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
    connectionCap: shares.connectionCap,
    retire() {
      retired = true;
    },
    async close() {
      await withDeadline(Date.now() + reportTimeoutMs, refusals.close());
      forwarder.close();
      shared?.close();
    },
  };
}
