import type { IncomingMessage, ServerResponse } from 'node:http';
import { internalOf } from '@attribution/auth';
import { deviceEndpoints, type Endpoint, Problem, type ServiceName, sendHeartbeat } from '@attribution/contracts';
import {
  type ByteBudget,
  createByteBudget,
  type HttpMetrics,
  type ListenOptions,
  observeBudget,
  observeHttp,
  writeProblem,
} from '@attribution/http';
import { noTracing, type Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { createClientShares } from '../client-shares.ts';
import { createForwarder } from '../forwarder.ts';
import { observeGateway } from '../metrics.ts';
import { createPipeline } from '../pipeline.ts';
import { createRateLimiter } from '../rate-limit.ts';
import { openSharedCounts } from '../redis.ts';
import { askDevice } from './ask-device.ts';
import { createStates } from './certificate-states.ts';
import type { IngressSettings } from './config.ts';
import { createDeviceClient } from './device-client.ts';
import { deviceCredential } from './device-credential.ts';
import { observeIngress } from './metrics.ts';
import { createHeartbeatRelay } from './relay-heartbeats.ts';

export interface Ingress {
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
  /** For the port of devices. */
  readonly listening: Omit<ListenOptions, 'host' | 'port'>;
  readonly registry: Registry;
  close(): Promise<void>;
}

interface IngressOptions {
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing | undefined;
  readonly metrics?: HttpMetrics | undefined;
  /** What the process may hold of request bodies. Default: a budget of its own. */
  readonly bodies?: ByteBudget;
  /** Default: all that are for devices. */
  readonly endpoints?: readonly Endpoint[];
  /** Judges the validity of certificates, in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** A change of a certificate or device holds within 5 s of its answer. The rest is for a question that takes long. */
const stateMaxAgeMs = 3_000;
/** A device waits no longer for the state of its certificate. */
const stateTimeoutMs = 2_000;
const statesKept = 50_000;
const handshakeTimeoutMs = 10_000;

/** What clients say about themselves and only a proxy in front of us could know: nobody is in front of the ingress. */
const claimsIdentity = (name: string) => name === 'authorization' || name.startsWith('client-cert');

/** The edge for devices: every request of a device enters here. */
export function createIngress(settings: IngressSettings, logger: Logger, options: IngressOptions = {}): Ingress {
  const { upstreams, PROBLEM_BASE: problemBase } = settings;
  const { tracing = noTracing, metrics, bodies = createByteBudget({ limit: settings.BODY_BUDGET_BYTES }) } = options;
  const { endpoints = deviceEndpoints } = options;
  const registry = new Registry();
  observeBudget(registry, 'ingress', 'bodies', bodies);
  const counts = observeGateway(registry, Object.keys(upstreams) as ServiceName[]);
  const deviceCounts = observeIngress(registry);
  const shared = settings.REDIS_URL
    ? openSharedCounts(settings.REDIS_URL, settings.REDIS_TIMEOUT_MS, logger)
    : undefined;
  const forwarder = createForwarder({ upstreams, timeoutMs: settings.UPSTREAM_TIMEOUT_MS });
  const shares = createClientShares([], settings.DEVICE_CONNECTIONS_PER_CLIENT, counts.countRefusal);
  const internal = internalOf('ingress', settings.INTERNAL_PRIVATE_KEYS, { keys: [] });

  const deviceClient = (timeoutMs: number) =>
    createDeviceClient({ url: upstreams.device ?? '', token: () => internal.sign('device'), timeoutMs });
  const heartbeats = createHeartbeatRelay({
    client: deviceClient(settings.UPSTREAM_TIMEOUT_MS),
    problemBase,
    forwarder,
  });

  const handle = createPipeline({
    endpoints,
    authenticate: deviceCredential({
      states: createStates({
        ask: askDevice({
          client: deviceClient(stateTimeoutMs),
          onFailure(error) {
            deviceCounts.countUnchecked();
            logger.warn({ err: error }, 'A certificate could not be checked');
          },
        }),
        maxAgeMs: stateMaxAgeMs,
        max: statesKept,
      }),
      signDevice: internal.signDevice,
      onRefused: deviceCounts.countRefusal,
      now: options.now ?? Date.now,
    }),
    limiter: createRateLimiter({ endpoints, shared, onFallback: counts.countFallback }),
    forwarder,
    forwarders: new Map([[sendHeartbeat.operation, heartbeats]]),
    bodies,
    shares,
    trustedProxies: [],
    strips: claimsIdentity,
    corsOrigins: [],
    problemBase,
    logger,
    site: (_req, res) => writeProblem(res, Problem.notFound(), problemBase),
    metrics: metrics ?? observeHttp(registry, 'ingress'),
    tracing,
    onFailure: counts.countFailure,
  });

  return {
    handle,
    listening: {
      problemBase,
      clientTimeout: settings.CLIENT_TIMEOUT_MS,
      connectionCap: shares.connectionCap,
      tls: {
        cert: settings.DEVICE_TLS_CERTIFICATE,
        key: settings.DEVICE_TLS_KEY,
        clientAuthorities: [settings.DEVICE_CA_CERTIFICATES],
        handshakeTimeoutMs,
        onFailedHandshake: deviceCounts.countHandshake,
      },
    },
    registry,
    async close() {
      forwarder.close();
      shared?.close();
    },
  };
}
