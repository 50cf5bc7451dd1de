import { Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** Labels that distinguish this process from others of the fleet. */
interface ProcessLabels {
  readonly service?: string;
  readonly role?: string;
}

let ofProcess: Registry | undefined;

/** Begins to measure the process itself. Programs call it once at their start, because it cannot be stopped. */
export function observeProcess(labels: ProcessLabels = {}): void {
  if (ofProcess) return;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, labels });
}

/** The metrics of the process and of the registry, as Prometheus text. */
export function writeMetrics(registry: Registry): Promise<string> {
  return (ofProcess ? Registry.merge([ofProcess, registry]) : registry).metrics();
}

/** Counts the spans that were sent, and those that were lost. */
export function observeSpans(): (spans: number, error: Error | undefined) => void {
  const sent = new Counter({
    name: 'trace_spans_total',
    help: 'Spans sent to the trace collector; lost: refused by it, or dropped because too many waited',
    labelNames: ['outcome'],
    registers: ofProcess ? [ofProcess] : [],
  });
  for (const outcome of ['sent', 'lost']) sent.inc({ outcome }, 0);
  return (spans, error) => sent.inc({ outcome: error ? 'lost' : 'sent' }, spans);
}
