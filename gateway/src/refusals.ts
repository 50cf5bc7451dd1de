import { createInternalSigner, type KeySet } from '@attribution/auth';
import { createClient, recordRefusals } from '@attribution/contracts';
import { createRefusalLog, type RefusalLog } from '@attribution/http';
import type { Logger } from 'pino';

const callTimeoutMs = 5_000;

/**
 * Brings what the gateway refuses into the audit log, by a call to the service that keeps it. What it cannot bring is
 * counted: when that service is away, when there is too much, and all of it without a key to sign the calls with.
 */
export function createRefusalReports(options: {
  /** The address of the service that keeps the audit log. */
  readonly url: string;
  readonly keys: KeySet | undefined;
  readonly onLost: (count: number) => void;
  readonly logger: Logger;
}): RefusalLog {
  const { url, keys, onLost, logger } = options;
  const sign = keys && createInternalSigner('gateway', keys);
  const client = createClient({
    baseUrl: url,
    timeout: callTimeoutMs,
    ...(sign && { token: () => sign(recordRefusals.service) }),
    // A redirect would take the token.
    fetch: (to, request) => fetch(to, { ...request, redirect: 'error' }),
  });
  return createRefusalLog({
    async write(entries) {
      if (!sign) throw new Error('INTERNAL_PRIVATE_KEYS is not set');
      const body = { entries: entries.map((entry) => ({ ...entry, outcome: 'refused' as const })) };
      const { problem } = await client.call(recordRefusals, { body });
      if (problem) throw new Error(`${problem.kind}: ${problem.detail}`);
    },
    onLost(count, err) {
      onLost(count);
      if (err && sign) logger.warn({ err, count }, 'Refused requests could not be recorded');
    },
    now: () => new Date(),
  });
}
