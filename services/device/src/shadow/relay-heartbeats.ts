import { Problem, relayHeartbeats, sendHeartbeat } from '@attribution/contracts';
import { problemOf, readJson, validate } from '@attribution/http';
import { implement } from '@attribution/service';
import type { Logger } from 'pino';
import { admitDevice, type Recognition } from '../presence/index.ts';
import { answerHeartbeat } from './send-heartbeat.ts';

interface Dependencies extends Recognition {
  readonly logger: Logger;
}

/** Heartbeats that the ingress has collected. What is wrong with one, or fails for one, is its result alone. */
export function relayHeartbeatsEndpoint(dependencies: Dependencies) {
  const admit = admitDevice(dependencies, sendHeartbeat.access);

  async function resultOf(fingerprint: string, text: string) {
    try {
      const known = await admit({ fingerprint });
      const body = validate(sendHeartbeat.body, readJson(Buffer.from(text)), 'body');
      return { heartbeat: await answerHeartbeat(dependencies, known, body) };
    } catch (error) {
      if (!(error instanceof Problem)) dependencies.logger.error({ err: error, fingerprint }, 'A heartbeat failed');
      const { kind, detail, headers } = problemOf(error);
      return { problem: { kind, detail, headers } };
    }
  }

  return implement(relayHeartbeats, async ({ body }) => ({
    results: await Promise.all(body.heartbeats.map(({ fingerprint, body: text }) => resultOf(fingerprint, text))),
  }));
}
