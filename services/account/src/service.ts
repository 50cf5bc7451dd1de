import { createSigner } from '@attribution/auth';
import { accountEvents } from '@attribution/contracts';
import { openService, type Service, type ServiceParts } from '@attribution/service';
import { listAccountTypesEndpoint, listPlansEndpoint } from './accounts/index.ts';
import * as auth from './auth/index.ts';
import { createCodes } from './codes/index.ts';
import { readAccountConfig } from './config.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import { purgeSpent, purgeUnverified } from './housekeeping.ts';
import { getBalanceEndpoint, listLedgerEndpoint } from './ledger/index.ts';
import { createFolderSender, createMailQueue, createSmtpSender, mailJob } from './mail/index.ts';
import { createHasher } from './passwords/index.ts';
import { createSessions } from './sessions/index.ts';
import { newClient, type Tx } from './store.ts';
import { getMeEndpoint, getMyPermissionsEndpoint } from './users/index.ts';
import { createVault } from './vault.ts';

const hour = 60 * 60 * 1000;

/** People, accounts, sessions, plans and the token ledger. */
export function createAccountService(
  parts: ServiceParts,
  environment: Readonly<Record<string, string | undefined>>,
): Service {
  const config = readAccountConfig(environment);
  const service = openService<PrismaClient, Tx>('account', parts, newClient);
  const { database, outbox, clock, logger } = service;

  const hasher = createHasher({ pepper: config.PASSWORD_PEPPER, cost: config.BCRYPT_COST });
  const from = config.MAIL_FROM;
  const sender = config.SMTP_URL
    ? createSmtpSender({ url: config.SMTP_URL, from })
    : createFolderSender({ directory: config.MAIL_DIR ?? '', from, now: () => clock.now() });
  const mail = createMailQueue({
    database,
    sender,
    clock,
    logger,
    vault: createVault(config.SECRET_KEYS),
    wake: () => service.wake(mailJob),
  });
  const codes = createCodes({ database, hasher, clock });
  const sessions = createSessions({ database, signer: createSigner(config.TOKEN_PRIVATE_KEYS), clock });
  const checkNewPassword = auth.newPasswordCheck(config.PASSWORD_MIN_LENGTH);

  return service.assemble({
    publishes: [accountEvents],
    implementations: [
      auth.signupEndpoint({ database, outbox, hasher, codes, mail, clock, checkNewPassword }),
      auth.verifyEmailEndpoint({ database, codes, sessions, clock }),
      auth.resendVerificationEndpoint({ database, codes, mail }),
      auth.loginEndpoint({ database, hasher, sessions }),
      auth.refreshSessionEndpoint({ database, sessions, clock }),
      auth.logoutEndpoint({ database, clock }),
      auth.forgotPasswordEndpoint({ database, codes, mail }),
      auth.resetPasswordEndpoint({ database, codes, hasher, clock, checkNewPassword }),
      getMeEndpoint(database),
      getMyPermissionsEndpoint(database),
      listPlansEndpoint(database),
      listAccountTypesEndpoint(database),
      listLedgerEndpoint(database),
      getBalanceEndpoint(database),
    ],
    jobs: [
      { name: mailJob, every: 1_000, run: () => mail.sendDue() },
      { name: 'purge-spent', every: hour, run: () => purgeSpent(database, clock) },
      { name: 'purge-unverified', every: hour, run: () => purgeUnverified(database, outbox, clock) },
    ],
  });
}
