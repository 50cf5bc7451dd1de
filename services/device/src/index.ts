import { AuthoritySetting } from '@attribution/certificates';
import { deviceEvents } from '@attribution/contracts';
import { defineService } from '@attribution/service';
import { z } from 'zod';
import { accountEnds } from './accounts/index.ts';
import { followEstate } from './estate/index.ts';
import { housekeeping } from './housekeeping.ts';
import { manifestChanges } from './manifest/index.ts';
import { deviceOperations } from './operations.ts';
import { openDevice } from './service.ts';
import { openDeviceDatabase } from './store.ts';

export default defineService({
  name: 'device',
  summary: 'The machines that play: from the factory list to a screen, their certificates, configuration and faults',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: z.object({
    DEVICE_CA: AuthoritySetting.meta({
      description:
        "The authority that signs devices' certificates, as JSON or the path of a file, which is followed while it changes: the root's certificate, and the issuing one with its key. `npm run ops -- device-ca rotate`",
      secret: true,
      example: JSON.stringify({
        root: '-----BEGIN CERTIFICATE-----',
        certificate: '-----BEGIN CERTIFICATE-----',
        private_key: '-----BEGIN PRIVATE KEY-----',
      }),
    }),
  }),
  calls: { organization: ['worker'], campaign: ['api'] },
  publishes: [deviceEvents],
  handles: [...accountEnds, ...manifestChanges],
  follows: { estate: followEstate },
  openDatabase: openDeviceDatabase,
  open: openDevice,
  purges: housekeeping,
  operations: deviceOperations,
});
