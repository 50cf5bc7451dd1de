import { createVerifier } from '@attribution/auth';
import type { Envelope } from '@attribution/contracts';
import { createInProcessTransport } from '@attribution/messaging';
import { problemBase, type TestService, testInternal, testKeys } from '@attribution/testing';
import organization from '../src/index.ts';

/** A second instance of the service on the same database, with its jobs and its relay. */
export async function startReplica({ db, clock, logs }: TestService) {
  const published: Envelope[] = [];
  const transport = createInProcessTransport();
  const service = organization.create(
    {
      databaseUrl: db.options.connectionString ?? '',
      poolSize: 6,
      transport: {
        ...transport,
        async publish(messages) {
          published.push(...messages.map(({ envelope }) => envelope));
          return { acknowledged: messages.map(({ envelope }) => envelope.event_id), failed: [] };
        },
      },
      verifier: createVerifier(testKeys.public, () => clock.now().getTime()),
      internal: testInternal('organization'),
      logger: logs.logger,
      problemBase,
      checkAnswers: true,
      clock,
    },
    {},
  );
  await transport.start();
  service.start();
  return {
    published: published as readonly Envelope[],
    async stop() {
      await service.drain(Date.now() + 5_000);
      await service.close();
    },
  };
}
