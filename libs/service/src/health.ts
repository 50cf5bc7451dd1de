import { Problem } from '@attribution/contracts';
import { writeProblem } from '@attribution/http';
import { attemptWithin, writeMetrics } from '@attribution/runtime';
import type { Express } from 'express';
import type { Registry } from 'prom-client';

/** Throws, or rejects, while the part does not work. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthOptions {
  /** Of the parts without which nothing can be served. */
  readonly checks: HealthChecks;
  /** Of parts whose outage is told, and withstood: it must not take a service out of rotation that serves all the same. */
  readonly tolerated?: HealthChecks;
  /** Whether the process is about to stop: it serves, and should be sent nothing new. */
  readonly stopping?: () => boolean;
  readonly registry: Registry;
  /** Before the metrics are written out. */
  readonly refresh?: () => Promise<void>;
  readonly problemBase: string;
}

/** Milliseconds that checks may take; the tolerated ones must not delay an answer that somebody waits for. */
const patience = { needed: 3_000, tolerated: 500 };

/** `/healthz`: the process lives. `/readyz`: it can serve, and is to be sent requests. `/metrics`: Prometheus text. */
export function serveHealth(app: Express, options: HealthOptions): void {
  const { checks, tolerated = {}, stopping = () => false, registry, refresh, problemBase } = options;
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.get('/readyz', async (_req, res) => {
    // Whoever shares requests out must hear of a stop in time: nothing is asked for it that may take seconds.
    const [failing, degraded] = stopping()
      ? [['stopping'], []]
      : await Promise.all([findFailing(checks, patience.needed), findFailing(tolerated, patience.tolerated)]);
    if (failing.length > 0) {
      const problem = new Problem('unavailable', `Not ready: ${failing.join(', ')}.`, { 'retry-after': '1' });
      return writeProblem(res, problem, problemBase);
    }
    res.json({
      status: degraded.length > 0 ? 'degraded' : 'ok',
      checks: [...Object.keys(checks), ...Object.keys(tolerated)],
      ...(degraded.length > 0 && { failing: degraded }),
    });
  });
  app.get('/metrics', async (_req, res) => {
    await refresh?.();
    res.type(registry.contentType).send(await writeMetrics(registry));
  });
}

/** The names of the checks that fail or do not answer within `ms`. */
async function findFailing(checks: HealthChecks, ms: number): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const answered = await attemptWithin(ms, () => check().then(() => true));
      return answered ? [] : [name];
    }),
  );
  return outcomes.flat();
}
