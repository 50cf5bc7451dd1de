import { Problem } from '@attribution/contracts';
import { writeProblem } from '@attribution/http';
import { attemptWithin, writeMetrics } from '@attribution/runtime';
import type { Express } from 'express';
import type { Registry } from 'prom-client';

/** Each check throws or rejects while its dependency does not work. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthOptions {
  /** The dependencies without which the service is not ready. */
  readonly checks: HealthChecks;
  /** Dependencies whose outage is reported but does not make the service unready, because it can still serve requests. */
  readonly tolerated?: HealthChecks;
  /** Whether the process is about to stop: it still serves, but balancers should send it no new requests. */
  readonly stopping?: () => boolean;
  readonly registry: Registry;
  /** Called before the metrics are written out. */
  readonly refresh?: () => Promise<void>;
  readonly problemBase: string;
}

/** The tolerated checks are short, so that they do not delay the response. */
const timeoutMs = { needed: 3_000, tolerated: 500 };

/** `/healthz`: the process is alive. `/readyz`: it can serve requests. `/metrics`: Prometheus text. */
export function serveHealth(app: Express, options: HealthOptions): void {
  const { checks, tolerated = {}, stopping = () => false, registry, refresh, problemBase } = options;
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.get('/readyz', async (_req, res) => {
    // A balancer must learn of the stop at once, so a stopping process does not run checks that may take seconds.
    const [failing, degraded] = stopping()
      ? [['stopping'], []]
      : await Promise.all([findFailing(checks, timeoutMs.needed), findFailing(tolerated, timeoutMs.tolerated)]);
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

/** The names of the checks that fail or take longer than `ms`. */
async function findFailing(checks: HealthChecks, ms: number): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const answered = await attemptWithin(ms, () => check().then(() => true));
      return answered ? [] : [name];
    }),
  );
  return outcomes.flat();
}
