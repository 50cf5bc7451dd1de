/** The whole platform in a process that can be killed, with the given databases, secrets, mail folder and port. */
import { join } from 'node:path';
import { startPlatform } from '@attribution/local';
import { createLogger, delayFullCollections, onStopSignal } from '@attribution/runtime';
import type { PlatformSettings } from './one-process.ts';

const settings = JSON.parse(process.env.PLATFORM ?? '') as PlatformSettings;
delayFullCollections(); // As `npm start` does.
const platform = await startPlatform({
  database: async (service) => settings.databases[service] ?? '',
  secrets: settings.secrets,
  mailDirectory: settings.mailDirectory,
  mediaDirectory: join(settings.mailDirectory, 'media'),
  payments: { file: settings.paymentsFile, url: 'http://127.0.0.1:0' },
  host: '127.0.0.1',
  port: Number(process.env.PORT),
  ...(settings.devicePort && { devicePort: settings.devicePort }),
  logger: createLogger({ name: 'platform', level: 'warn', pretty: false }),
  environment: { BCRYPT_COST: '4', NODE_ENV: 'test', ...settings.environment },
});
onStopSignal(() => platform.stop());
