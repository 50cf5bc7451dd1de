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
  /** Path of the database file, or `:memory:`. */
  readonly file: string;
  readonly clock: Clock;
  /** The URL at which a browser reaches `app`. A function, because the port is known only after listening. */
  readonly baseUrl: () => string;
  /**
   * Where to send notifications. Without it they are listed but not sent. A signature with any of the secrets is
   * accepted.
   */
  readonly webhook?: WebhookTarget;
  /** The share of calls, and of notifications, that fail at random; from 0 to 1. */
  readonly failures?: number;
  readonly logger: ServiceDependencies['logger'];
}

export interface SimulatedProvider {
  readonly provider: PaymentProvider;
  /**
   * Serves pages for a browser: `checkout/{id}`, `setup/{client_secret}` and `receipts/{payment}` under the base URL.
   */
  readonly app: (req: IncomingMessage, res: ServerResponse) => void;
  /** Runs `tick` every second, and sends notifications as soon as there are any. */
  start(): void;
  /** Makes all changes that are due by now and sends due notifications. Tests call it after moving the clock. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

const turn = 1_000;

/**
 * A payment provider that runs on this machine, so that the whole product runs without an account at a real one.
 * Before `start` it only executes calls: several processes may open the same file, and only one of them is started.
 */
export function createSimulatedProvider(options: SimulatedProviderOptions): SimulatedProvider {
  const { file, clock, webhook, failures = 0, logger } = options;
  const simulation = openSimulation(file, clock);
  const links = linksUnder(options.baseUrl);
  const delivery = createDelivery({ store: simulation.store, target: webhook, clock, failures, logger });
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let ticking = Promise.resolve();

  /** Ticks run one at a time, so that no notification is sent twice. */
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
  /** Notifications that arrive during a tick are sent by that tick or by the next one. */
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
