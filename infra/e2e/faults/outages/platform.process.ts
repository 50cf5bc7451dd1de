/** The whole platform in one process. The experiment stops and starts its databases, whose URLs are in DATABASES as JSON. */
import { join } from 'node:path';
import { newSecrets, startPlatform } from '@attribution/local';
import { createLogger, delayFullCollections, onStopSignal, setting } from '@attribution/runtime';
import { z } from 'zod';

const given = z
  .object({
    DATABASES: setting.json(z.record(z.string(), z.url())),
    MAIL_DIR: z.string(),
    PORT: setting.port,
  })
  .parse(process.env);

delayFullCollections(); // As `npm start` does.
const platform = await startPlatform({
  database: async (service) => given.DATABASES[service] ?? '',
  secrets: newSecrets(),
  mailDirectory: given.MAIL_DIR,
  mediaDirectory: join(given.MAIL_DIR, 'media'),
  payments: { file: ':memory:', url: 'http://127.0.0.1:0' },
  host: '127.0.0.1',
  port: given.PORT,
  logger: createLogger({ name: 'platform', level: 'warn', pretty: false }),
  environment: process.env,
});
onStopSignal(() => platform.stop());
