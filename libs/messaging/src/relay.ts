import { withAdvisoryLock } from '@attribution/database';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { OutboxPublisher, type OutboxPublisherOptions } from './outbox-publisher.ts';

export interface Relay {
  start(): void;
  /** There may be something to publish. */
  wake(): void;
  /** Publishes what is there, then stops; gives up at `deadline` (ms since the epoch). The rest stays in the outbox. */
  stop(deadline: number): Promise<void>;
}

export interface RelayOptions extends Omit<OutboxPublisherOptions, 'batchSize'> {
  readonly pool: Pool;
  /** Events that are published at a time, at most. Default: `relayBatchSize`. */
  readonly batchSize?: number;
  /** Milliseconds between looks at the outbox when nothing wakes the relay: another replica may have left events. */
  readonly pollEvery?: number;
}

export const relayBatchSize = 500;

/** Milliseconds to wait for another replica that is publishing: its pass takes as long, and may have missed our event. */
const busyPauseMs = 25;

/** Publishes a service's outbox. Of all replicas one does so at a time, under a lock that is held while there is work. */
export function createRelay({ pool, batchSize = relayBatchSize, pollEvery = 500, ...options }: RelayOptions): Relay {
  return new OutboxRelay(pool, new OutboxPublisher({ ...options, batchSize }), pollEvery, options.logger);
}

class OutboxRelay implements Relay {
  readonly #pool: Pool;
  readonly #publisher: OutboxPublisher;
  readonly #pollEvery: number;
  readonly #logger: Logger;
  #running = false;
  /** Something was committed since the last pass began. */
  #awake = false;
  #loop: Promise<void> | undefined;
  #interruptSleep = () => {};

  constructor(pool: Pool, publisher: OutboxPublisher, pollEvery: number, logger: Logger) {
    this.#pool = pool;
    this.#publisher = publisher;
    this.#pollEvery = pollEvery;
    this.#logger = logger;
  }

  start(): void {
    this.#running = true;
    this.#loop = this.#run();
  }

  wake(): void {
    this.#awake = true;
    this.#interruptSleep();
  }

  async stop(deadline: number): Promise<void> {
    this.#running = false;
    this.#interruptSleep();
    await this.#loop;
    try {
      await this.#drain(() => Date.now() < deadline);
    } catch (error) {
      this.#logger.warn({ err: error }, 'The outbox was not drained; the next start goes on with it');
    }
  }

  async #run(): Promise<void> {
    while (this.#running) {
      this.#awake = false;
      const outcome = await this.#drain(() => this.#running).catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'The outbox could not be relayed; trying again');
      });
      if (outcome === 'busy') await this.#sleep(busyPauseMs);
      else if (!this.#awake && this.#running) await this.#sleep(this.#pollEvery);
    }
  }

  /** `busy`: another replica's relay is publishing. */
  async #drain(shouldContinue: () => boolean): Promise<'drained' | 'busy'> {
    const drained = await withAdvisoryLock(this.#pool, 'relay', async (client) => {
      await this.#publisher.publishAll(client, shouldContinue);
      return 'drained' as const;
    });
    return drained ?? 'busy';
  }

  /** Until the time has passed, or something wakes it. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      const interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#interruptSleep = interrupt;
    });
  }
}
