import { createVerifier } from '@attribution/auth';
import { type Envelope, organizationEvents } from '@attribution/contracts';
import { createInProcessTransport } from '@attribution/messaging';
import { problemBase, type TestService, testInternal, testKeys, worthlessSettings } from '@attribution/testing';
import organization from '../src/index.ts';

/** A second instance of the service on the same database, with its jobs and its relay. */
export async function startReplica({ db, clock, logs }: TestService) {
  /** Without audit records. */
  const published: Envelope[] = [];
  const transport = createInProcessTransport();
  const service = organization.create(
    {
      databaseUrl: db.options.connectionString ?? '',
      poolSize: 6,
      transport: {
        ...transport,
        async publish(messages) {
          const told = messages.filter(({ topic }) => topic === organizationEvents.name);
          published.push(...told.map(({ envelope }) => envelope));
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
    worthlessSettings(organization),
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
