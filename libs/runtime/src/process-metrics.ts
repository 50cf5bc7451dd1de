import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** What tells this process apart from others of the fleet. */
interface ProcessLabels {
  readonly service?: string;
  readonly role?: string;
}

let ofProcess: Registry | undefined;

/** Measures the process itself from here on: called where a program begins, as what observes a process never ends. */
export function observeProcess(labels: ProcessLabels = {}): void {
  if (ofProcess) return;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, labels });
}

/** What is measured of the process and of what the registry is for, as Prometheus text. */
export function writeMetrics(registry: Registry): Promise<string> {
  return (ofProcess ? Registry.merge([ofProcess, registry]) : registry).metrics();
}

/** Counts the spans that were sent, and those that nobody took. */
export function observeSpans(): (spans: number, error: Error | undefined) => void {
  const sent = new Counter({
    name: 'trace_spans_total',
    help: 'Spans handed to who keeps traces; lost: not taken, or dropped as too many waited',
    labelNames: ['outcome'],
    registers: ofProcess ? [ofProcess] : [],
  });
  for (const outcome of ['sent', 'lost']) sent.inc({ outcome }, 0);
  return (spans, error) => sent.inc({ outcome: error ? 'lost' : 'sent' }, spans);
}
