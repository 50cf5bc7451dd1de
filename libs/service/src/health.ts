import { Problem } from '@attribution/contracts';
import type { Express } from 'express';
import type { Registry } from 'prom-client';
import { writeProblem } from './problem-response.ts';

/** Throws, or rejects, while the part does not work. */
export type HealthChecks = Readonly<Record<string, () => Promise<void>>>;

export interface HealthOptions {
  readonly checks: HealthChecks;
  readonly registry: Registry;
  /** Before the metrics are written out. */
  readonly refresh?: () => Promise<void>;
  readonly problemBase: string;
}

/** `/healthz`: the process lives. `/readyz`: its parts work too. `/metrics`: Prometheus text. */
export function serveHealth(app: Express, { checks, registry, refresh, problemBase }: HealthOptions): void {
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.get('/readyz', async (_req, res) => {
    const failing = await findFailing(checks);
    if (failing.length === 0) res.json({ status: 'ok', checks: Object.keys(checks) });
    else
      writeProblem(
        res,
        new Problem('unavailable', `Not ready: ${failing.join(', ')}.`, { 'retry-after': '1' }),
        problemBase,
      );
  });
  app.get('/metrics', async (_req, res) => {
    await refresh?.();
    res.type(registry.contentType).send(await registry.metrics());
  });
}

/** The names of the checks that fail or do not answer within 3 s. */
async function findFailing(checks: HealthChecks): Promise<string[]> {
  const outcomes = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(() => late.reject(new Error('late')), 3_000);
      const ok = await Promise.race([Promise.try(check), late.promise]).then(
        () => true,
        () => false,
      );
      clearTimeout(timer);
      return ok ? [] : [name];
    }),
  );
  return outcomes.flat();
}
