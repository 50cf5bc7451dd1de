import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@attribution/runtime';
import type { ServiceDependencies } from '@attribution/service';
import type { PaymentProvider } from '../payment-provider.ts';
import { createDelivery, type WebhookTarget } from './delivery.ts';
import { createPages } from './page/pages.ts';
import { passTime } from './passing-time.ts';
import { createProvider } from './provider.ts';
import { openSimulation } from './simulation.ts';
import { unreliable } from './unreliable.ts';
import { linksUnder } from './views.ts';

export interface SimulatedProviderOptions {
  /** Where its store is kept, or `:memory:`. */
  readonly file: string;
  readonly clock: Clock;
  /** Where a browser reaches `app`: asked at each use, as the port is known only once it listens. */
  readonly baseUrl: () => string;
  /** Without it nothing is sent; what there is to tell is still listed. Signatures with any of the secrets are right. */
  readonly webhook?: WebhookTarget;
  /** The share of its calls, and of its notifications, that get lost by chance; from 0 to 1. */
  readonly failures?: number;
  readonly logger: ServiceDependencies['logger'];
}

export interface SimulatedProvider {
  readonly provider: PaymentProvider;
  /** Its pages, for a browser: `checkout/{id}`, `setup/{client_secret}`, `receipts/{payment}` under the base URL. */
  readonly app: (req: IncomingMessage, res: ServerResponse) => void;
  /** Lets time pass every second, and sends notifications as soon as there are some. */
  start(): void;
  /** Does what time has brought, and sends what is due. For tests, after they have moved the clock. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

const turn = 1_000;

/**
 * Whoever moves the money, played on this machine: the whole product runs without an account anywhere. Until it is
 * started it only does what it is asked: another process may open the same file, and read what is there.
 */
export function createSimulatedProvider(options: SimulatedProviderOptions): SimulatedProvider {
  const { file, clock, webhook, failures = 0, logger } = options;
  const simulation = openSimulation(file, clock);
  const links = linksUnder(options.baseUrl);
  const delivery = createDelivery({ store: simulation.store, target: webhook, clock, failures, logger });
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let ticking = Promise.resolve();

  /** One at a time, so that nothing is sent twice. */
  function tick(): Promise<void> {
    const turned = ticking.then(async () => {
      if (stopped) return;
      try {
        passTime(simulation);
      } finally {
        await delivery.deliverDue();
      }
    });
    ticking = turned.catch(() => {});
    return turned;
  }
  let busy = false;
  /** What comes meanwhile is found by the one that runs, or by the next. */
  const tickQuietly = () => {
    if (busy) return;
    busy = true;
    tick()
      .catch((error: unknown) => logger.warn({ err: error }, 'The simulated provider failed; it tries again'))
      .finally(() => {
        busy = false;
      });
  };
  let woken = false;
  const wake = () => {
    if (!timer || woken) return;
    woken = true;
    setImmediate(() => {
      woken = false;
      tickQuietly();
    });
  };

  return {
    provider: unreliable(createProvider(simulation, links, webhook?.secrets ?? [], wake), failures),
    app: createPages(simulation, links, logger, wake),
    start() {
      timer ??= setInterval(tickQuietly, turn).unref();
      wake();
    },
    tick,
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      timer = undefined;
      delivery.stop();
      await ticking;
      simulation.store.close();
    },
  };
}
