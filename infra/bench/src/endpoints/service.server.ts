/** Runs one of the real services on its own HTTP port, with the in-process transport. */
import { createVerifier, internalOf, KeySet } from '@attribution/auth';
import { listen } from '@attribution/http';
import { createInProcessTransport } from '@attribution/messaging';
import { loadService, type RegisteredName } from '@attribution/registry';
import { createLogger, onStopSignal } from '@attribution/runtime';
import { patientLimits, worthlessSettings } from '@attribution/testing';
import { announce } from '../server.ts';

const {
  DATABASE_URL = '',
  TOKEN_PUBLIC_KEYS = '',
  INTERNAL_PRIVATE_KEYS = '',
  INTERNAL_PUBLIC_KEYS = '',
  RELAY,
} = process.env;
const SERVICE = process.env.SERVICE as RegisteredName;
const definition = await loadService(SERVICE);
const setOf = (text: string) => KeySet.parse(JSON.parse(text));

const problemBase = 'https://problems.attribution.example';
const transport = createInProcessTransport();
const service = definition.create(
  {
    databaseUrl: DATABASE_URL,
    poolSize: 10,
    ...patientLimits,
    transport,
    verifier: createVerifier(setOf(TOKEN_PUBLIC_KEYS)),
    internal: internalOf(SERVICE, setOf(INTERNAL_PRIVATE_KEYS), setOf(INTERNAL_PUBLIC_KEYS)),
    logger: createLogger({ name: SERVICE, level: 'info' }),
    problemBase,
    checkAnswers: false,
  },
  { ...worthlessSettings(definition), ...process.env },
);
await transport.start();
if (RELAY === 'on') service.start();
const server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });
announce(`http://127.0.0.1:${server.port}`);

onStopSignal(async () => {
  await server.close(Date.now() + 1_000);
  if (RELAY === 'on') await service.drain(Date.now() + 5_000);
  await service.close();
});
