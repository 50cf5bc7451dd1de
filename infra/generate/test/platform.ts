import { accountCreated, accountEvents, billingEvents } from '@attribution/contracts';
import { z } from 'zod';
import type { Service } from '../src/services.ts';

/** Two services that together use every feature of the generator. */
const shop: Service = {
  name: 'account',
  summary: 'The shop',
  appendOnly: ['receipts'],
  settings: z.object({
    SIGNING_KEYS: z.string().meta({ description: 'What it signs with', secret: true }),
    RECIPE: z.string().meta({ description: 'Its secret recipe', secret: true }),
    SMTP_URL: z.url().optional().meta({ description: 'Where mail goes', secret: true }),
    COLOUR: z.enum(['red', 'blue']).default('red').meta({ description: 'Of its door' }),
  }),
  calls: {},
  publishes: [accountEvents],
  handles: [],
  follows: {},
  deployment: {
    compose: {
      comment: 'Its till is in a file.',
      environment: { SMTP_URL: 'smtp://mailpit:1025', OPEN: 'true' },
      volumes: ['till:/var/lib/till'],
      ports: { worker: ['127.0.0.1:81:81'] },
    },
    kubernetes: {
      environment: { COLOUR: 'blue' },
      files: { SIGNING_KEYS: { secret: 'signing-keys', key: 'keys.json' } },
      cpu: { api: { request: '2', why: 'It bakes.' } },
      egress: [{ name: 'mail', why: 'It writes letters', roles: ['worker'], port: 587 }],
    },
  },
};

const till: Service = {
  name: 'billing',
  summary: 'The till',
  appendOnly: [],
  settings: z.object({}),
  calls: { account: ['worker'] },
  publishes: [billingEvents],
  handles: [accountCreated],
  follows: { shops: { from: 'account', tables: ['known_shops'] } },
};

export const platform = [shop, till];
