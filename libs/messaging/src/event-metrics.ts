import type { Envelope } from '@attribution/contracts';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { EventHandler } from './handlers.ts';

export interface EventMetrics {
  /** Told when these have had their effects here. */
  readonly onHandled: (envelopes: readonly Envelope[]) => void;
  /** Told of each attempt at a single event that failed. */
  readonly onFailed: (envelope: Envelope) => void;
}

/** Counts events by their types, if the service has handlers for the type: other types do not become labels. */
export function observeEvents(
  registry: Registry,
  service: string,
  handlers: readonly Pick<EventHandler<never>, 'event'>[],
): EventMetrics {
  const types = new Set(handlers.map(({ event }) => event.type));
  const typeOf = ({ type }: Envelope) => (types.has(type) ? type : 'other');
  const labelNames = ['service', 'type'] as const;
  const registers = [registry];
  const handled = new Counter({
    name: 'events_handled_total',
    help: 'Events that were handled, including repeated deliveries',
    labelNames,
    registers,
  });
  const failed = new Counter({
    name: 'event_failures_total',
    help: 'Attempts at an event that failed',
    labelNames,
    registers,
  });
  const age = new Histogram({
    name: 'event_age_seconds',
    help: 'From what happened to its effect here',
    labelNames: ['service'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600],
    registers,
  });
  for (const type of types) handled.inc({ service, type }, 0);

  return {
    onHandled(envelopes) {
      const now = Date.now();
      for (const envelope of envelopes) {
        handled.inc({ service, type: typeOf(envelope) });
        age.observe({ service }, Math.max(0, now - Date.parse(envelope.occurred_at)) / 1000);
      }
    },
    onFailed: (envelope) => failed.inc({ service, type: typeOf(envelope) }),
  };
}
