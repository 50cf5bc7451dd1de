import { processSettings, setting } from '@attribution/runtime';
import { z } from 'zod';

/** What `npm start` reads itself; services and gateway read theirs from the same environment. */
export const localSettings = z.object({
  ...processSettings,
  PORT: setting.port.default(8080).meta({ description: 'The port of the gateway' }),
  PAYMENTS_PORT: setting.port.optional().meta({
    description: 'The port of the pages of the simulated payments; everything else takes free ports',
    fallback: 'the next free one after `PORT`',
  }),
  STRIPE_SECRET_KEY: z
    .string()
    .optional()
    .meta({ description: 'With it Stripe moves the money, and no payments are simulated', secret: true }),
  LOCAL_DIR: z.string().default('.local').meta({ description: 'Data, mail and secrets; delete it to begin anew' }),
});
