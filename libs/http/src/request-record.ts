import { outsideTraces, type TraceContext, traceFields } from '@attribution/tracing';
import type { Logger } from 'pino';
import type { HttpMetrics } from './http-metrics.ts';

export interface AnsweredRequest {
  readonly request_id: string;
  readonly trace: TraceContext | undefined;
  readonly method: string;
  /** `none` for what is no endpoint. */
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
}

/**
 * Counts, times and logs requests, once their answers have been taken: all of one turn of the event loop together, as
 * that costs half of what it does one by one in between everything else (ADR 8).
 */
export function requestRecorder(
  metrics: HttpMetrics,
  logger: Logger,
  level: 'info' | 'debug',
): (request: AnsweredRequest) => void {
  // These fields are known to hold no secret, and looking for one costs as much as the line.
  const lines = logger.child({}, { formatters: { log: (fields) => fields } });
  let waiting: AnsweredRequest[] = [];

  function recordAll(): void {
    const all = waiting;
    waiting = [];
    const said = lines.isLevelEnabled(level);
    for (const { request_id, trace, method, operation, status, seconds } of all) {
      metrics.observe({ method, operation, status, seconds });
      if (!said) continue;
      const fields = { request_id, ...traceFields(trace), method, operation, status };
      lines[level]({ ...fields, ms: Math.round(seconds * 1000) }, 'request');
    }
  }

  return (request) => {
    // Else all lines would be told of the trace of the first.
    if (waiting.push(request) === 1) outsideTraces(() => setImmediate(recordAll));
  };
}
