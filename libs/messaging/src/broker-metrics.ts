import { Gauge, type Registry } from 'prom-client';
import { readOnScrape, scrapeTimeoutMs } from './gauges.ts';
import type { Transport } from './transport.ts';

/** Whether the broker answers, and how far this service's consumers are behind: of every replica the same. */
export function observeBroker(registry: Registry, service: string, transport: Transport, timeoutMs = scrapeTimeoutMs) {
  const registers = [registry];
  const up = new Gauge({
    name: 'broker_up',
    help: 'Whether the broker answers, and has let the consumers in: 1 or 0',
    labelNames: ['service'],
    registers,
  });
  const lag = new Gauge({
    name: 'consumer_lag',
    help: 'Events of a topic that this service has not handled yet',
    labelNames: ['service', 'topic'],
    registers,
  });
  const waiting = new Gauge({
    name: 'consumer_waiting_offset',
    help: 'Offset of the event that is next, in partitions in which events wait: where it stays, nothing is handled',
    labelNames: ['service', 'topic', 'partition'],
    registers,
  });
  new Gauge({
    name: 'consumer_missed_events',
    help: 'Events that the broker had deleted before this process came to them, since it began',
    labelNames: ['service', 'topic'],
    registers,
    collect() {
      for (const { group, topic, events } of transport.missed?.() ?? [])
        if (group === service) this.set({ service, topic }, events);
    },
  });

  const readUp = readOnScrape(
    {
      async read() {
        await transport.check();
        up.set({ service }, 1);
      },
      forget: () => up.set({ service }, 0),
    },
    timeoutMs,
  );
  /** Read apart from `up`: where one of a service's groups cannot join, the lag of the others is still reported. */
  const readLag = readOnScrape(
    {
      async read() {
        const lags = (await transport.lag?.()) ?? [];
        lag.reset();
        waiting.reset();
        for (const { group, topic, events, next } of lags) {
          if (group !== service) continue;
          lag.set({ service, topic }, events);
          for (const { partition, offset } of next) waiting.set({ service, topic, partition }, offset);
        }
      },
      forget() {
        lag.reset();
        waiting.reset();
      },
    },
    timeoutMs,
  );

  return {
    /** To be called before each scrape. What cannot be read is left out of it. */
    async refresh(): Promise<void> {
      await Promise.all([readUp(), readLag()]);
    },
  };
}
