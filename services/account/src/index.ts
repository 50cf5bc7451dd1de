import {
  accountEvents,
  auditEvents,
  disputeLost,
  disputeOpened,
  disputeWon,
  groupDeleted,
  invoicePaid,
  paymentFailed,
  paymentSucceeded,
  paymentWaits,
  refundFailed,
  refundSucceeded,
  subscriptionDeleted,
  subscriptionUpdated,
} from '@attribution/contracts';
import { defineService, followGroups } from '@attribution/service';
import { accountSettings } from './config.ts';
import { housekeeping } from './housekeeping.ts';
import { checkedTokenLedger } from './ledger/index.ts';
import { renewTotpSecrets } from './mfa/index.ts';
import { openAccount } from './service.ts';
import { openAccountDatabase } from './store.ts';
import { createVault } from './vault.ts';

export default defineService({
  name: 'account',
  summary: 'People, accounts, sessions, API keys, plans and the token ledger',
  migrations: new URL('../prisma/migrations', import.meta.url),
  appendOnly: ['audit_log'],
  settings: accountSettings,
  calls: { organization: ['api', 'worker'] },
  publishes: [accountEvents],
  handles: [
    ...Object.values(auditEvents),
    ...[groupDeleted, subscriptionUpdated, subscriptionDeleted],
    ...[paymentSucceeded, invoicePaid, paymentFailed, paymentWaits, refundSucceeded, refundFailed],
    ...[disputeOpened, disputeWon, disputeLost],
  ],
  follows: { groups: followGroups },
  deployment: {
    compose: { environment: { SMTP_URL: 'smtp://mailpit:1025' } },
    kubernetes: {
      environment: {
        MAIL_FROM: 'Attribution Platform <no-reply@attribution.example>',
        SMTP_REQUIRE_TLS: 'true',
      },
      files: { TOKEN_PRIVATE_KEYS: { secret: 'token-private-keys', key: 'keys.json' } },
      cpu: { api: { request: '1', why: 'To hash a password takes 0.2 s of a core.' } },
      egress: [{ name: 'mail', why: 'Mail is sent by a job, to a relay', roles: ['worker'], port: 587 }],
    },
  },
  openDatabase: openAccountDatabase,
  open: openAccount,
  purges: housekeeping,
  operations: ({ database, config }) => ({
    renewSecrets: (options) => renewTotpSecrets(database, createVault(config().SECRET_KEYS), options),
    checkLedger: (progress) => checkedTokenLedger(database, { progress }),
  }),
});
