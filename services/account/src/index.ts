import {
  accountEvents,
  groupDeleted,
  invoicePaid,
  paymentFailed,
  paymentSucceeded,
  refundFailed,
  refundSucceeded,
} from '@attribution/contracts';
import { defineService, followGroups } from '@attribution/service';
import { accountSettings } from './config.ts';
import { housekeeping } from './housekeeping.ts';
import { checkTokenLedger } from './ledger/index.ts';
import { openAccount } from './service.ts';
import { openAccountDatabase } from './store.ts';

export default defineService({
  name: 'account',
  summary: 'People, accounts, sessions, API keys, plans and the token ledger',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: accountSettings,
  calls: { organization: ['api', 'worker'] },
  publishes: [accountEvents],
  handles: [groupDeleted, paymentSucceeded, invoicePaid, paymentFailed, refundSucceeded, refundFailed],
  follows: { groups: followGroups },
  deployment: {
    compose: { environment: { SMTP_URL: 'smtp://mailpit:1025' } },
    kubernetes: {
      environment: { MAIL_FROM: 'Attribution Platform <no-reply@attribution.example>' },
      files: { TOKEN_PRIVATE_KEYS: { secret: 'token-private-keys', key: 'keys.json' } },
      cpu: { api: { request: '1', why: 'To hash a password takes 0.2 s of a core.' } },
      egress: [{ name: 'mail', why: 'Mail is sent by a job, to a relay', roles: ['worker'], port: 587 }],
    },
  },
  openDatabase: openAccountDatabase,
  open: openAccount,
  purges: housekeeping,
  operations: ({ database }) => ({
    async checkLedger(progress) {
      const { accounts, differences } = await checkTokenLedger(database, { progress });
      return {
        compared: `${accounts} accounts`,
        faults: differences.map(({ accountId, what }) => `${accountId}: ${what}`),
      };
    },
  }),
});
