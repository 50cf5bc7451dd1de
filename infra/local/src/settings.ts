import { processSettings, setting } from '@attribution/runtime';
import { z } from 'zod';

/** The settings of `npm start` itself. The services and the gateway read theirs from the same environment. */
export const localSettings = z.object({
  ...processSettings,
  PORT: setting.port.default(8080).meta({ description: 'The port of the gateway' }),
  DEVICE_PORT: setting.port.default(8443).meta({ description: 'The port of the ingress of devices: HTTPS' }),
  PAYMENTS_PORT: setting.port.optional().meta({
    description: 'The port of the pages of simulated payments; everything else takes free ports',
    fallback: 'the next free one after `PORT`',
  }),
  STRIPE_SECRET_KEY: z
    .string()
    .optional()
    .meta({ description: 'If set, payments go through Stripe and are not simulated', secret: true }),
  LOCAL_DIR: z
    .string()
    .default('.local')
    .meta({ description: 'The folder of data, mail and secrets; delete it to start afresh' }),
});
