import { outsideTraces, type TraceContext, traceFields } from '@attribution/tracing';
import type { Logger } from 'pino';
import type { HttpMetrics } from './http-metrics.ts';

/** An account, and the person, key, device or operator who acts in it. */
export interface RequestCaller {
  readonly accountId: string;
  readonly id: string;
}

export interface AnsweredRequest {
  readonly request_id: string;
  readonly platform_request_id: string;
  readonly trace: TraceContext | undefined;
  /** Who sent it, once the token was verified. */
  readonly caller: RequestCaller | undefined;
  readonly method: string;
  /** `none` for a path without an endpoint. */
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
}

/**
 * Counts, times and logs requests after their responses were sent. All requests of one turn of the event loop are recorded
 * together, which costs half as much as recording them one by one (ADR 8).
 */
export function requestRecorder(
  metrics: HttpMetrics,
  logger: Logger,
  level: 'info' | 'debug',
): (request: AnsweredRequest) => void {
  // These fields contain no secrets, and searching them for secrets would double the cost of a line.
  const lines = logger.child({}, { formatters: { log: (fields) => fields } });
  let waiting: AnsweredRequest[] = [];

  function recordAll(): void {
    const all = waiting;
    waiting = [];
    const logged = lines.isLevelEnabled(level);
    for (const { request_id, platform_request_id, trace, caller, method, operation, status, seconds } of all) {
      metrics.observe({ method, operation, status, seconds });
      if (!logged) continue;
      const by = caller && { account: caller.accountId, actor: caller.id };
      const fields = { request_id, platform_request_id, ...traceFields(trace), ...by, method, operation, status };
      lines[level]({ ...fields, ms: Math.round(seconds * 1000) }, 'request');
    }
  }

  return (request) => {
    // Outside traces, or all lines would get the trace of the first request.
    if (waiting.push(request) === 1) outsideTraces(() => setImmediate(recordAll));
  };
}
