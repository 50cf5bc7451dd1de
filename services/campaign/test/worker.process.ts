/** Runs the worker of a campaign database (the first argument) with settings (the second, JSON), until it is killed. */
import { createVerifier } from '@attribution/auth';
import { createInProcessTransport } from '@attribution/messaging';
import { createLogger } from '@attribution/runtime';
import { problemBase, testInternal, testKeys, worthlessSettings } from '@attribution/testing';
import campaign from '../src/index.ts';

const [, , databaseUrl = '', settings = '{}'] = process.argv;
const transport = createInProcessTransport();
const worker = campaign.create(
  {
    ...{ databaseUrl, role: 'worker', transport, problemBase, checkAnswers: true },
    verifier: createVerifier(testKeys.public),
    internal: testInternal('campaign'),
    logger: createLogger({ name: 'campaign', level: 'silent', pretty: false }),
  },
  { ...worthlessSettings(campaign), ...(JSON.parse(settings) as Record<string, string>) },
);
await transport.start();
worker.start();
