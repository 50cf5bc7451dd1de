import { createSigner } from '@attribution/auth';
import { withDeadline } from '@attribution/runtime';
import { ledgerCheck, type OpenDependencies, type ServiceContents } from '@attribution/service';
import * as accounts from './accounts/index.ts';
import * as keys from './api-keys/index.ts';
import { keepEntries, listAuditLogEndpoint, onAuditRecords, recordRefusalsEndpoint } from './audit/index.ts';
import * as auth from './auth/index.ts';
import { createCodes } from './codes/index.ts';
import type { AccountConfig } from './config.ts';
import * as groups from './groups/index.ts';
import { createGuesses } from './guesses/index.ts';
import * as invitations from './invitations/index.ts';
import * as ledger from './ledger/index.ts';
import { createFolderSender, createMailQueue, createSmtpSender, mailJob } from './mail/index.ts';
import * as members from './members/index.ts';
import * as mfa from './mfa/index.ts';
import { createNotices } from './notices/index.ts';
import { createHasher, observeHashes } from './passwords/index.ts';
import { onDisputes, onPayments, onRefunds } from './purchases/index.ts';
import { createRefusals, createSessions } from './sessions/index.ts';
import type { AccountDatabase, Tx } from './store.ts';
import { createSupportSessionEndpoint } from './support/index.ts';
import * as users from './users/index.ts';
import { createVault } from './vault.ts';

const second = 1_000;

type AccountDependencies = OpenDependencies<AccountDatabase, AccountConfig, 'organization'>;

/** The composition root. */
export function openAccount(dependencies: AccountDependencies): ServiceContents<Tx> {
  const { config, database, outbox, clock, logger, registry, verifier, clients, wake } = dependencies;

  const hasher = createHasher({
    pepper: config.PASSWORD_PEPPER,
    oldPeppers: config.OLD_PASSWORD_PEPPERS,
    cost: config.BCRYPT_COST,
    maxWaitMs: config.HASH_WAIT_MS,
    metrics: observeHashes(dependencies.registry),
  });
  const from = config.MAIL_FROM;
  const sender = config.SMTP_URL
    ? createSmtpSender({ url: config.SMTP_URL, from, requireTls: config.SMTP_REQUIRE_TLS })
    : createFolderSender({ directory: config.MAIL_DIR ?? '', from, now: () => clock.now() });
  const vault = createVault(config.SECRET_KEYS);
  const mail = createMailQueue({
    database,
    sender,
    clock,
    logger,
    vault,
    wake: () => wake(mailJob),
  });
  const guesses = createGuesses({ database, mail, clock, pepper: config.PASSWORD_PEPPER });
  const codes = createCodes({ database, hasher, guesses, clock });
  const signer = createSigner(config.TOKEN_PRIVATE_KEYS);
  const refusals = createRefusals({ database, clock, pepper: config.PASSWORD_PEPPER });
  const notices = createNotices({ mail, clock });
  const sessions = createSessions({ database, signer, clock, refusals, guesses, notices });
  const mfaCodes = mfa.createMfaCodes(vault);
  const codeAttempts = mfa.createCodeAttempts({ database, mfaCodes, guesses, notices, clock });
  const freshProof = mfa.createFreshProof({ database, hasher, guesses, codeAttempts, clock });
  const requireGroups = groups.createRequireGroups({ database, organization: clients.organization, logger });
  const keyEnvironment = { prefix: config.API_KEY_PREFIX, name: config.API_KEY_ENVIRONMENT };
  const keyWriting = { database, outbox, notices, clock, requireGroups, keyEnvironment };
  const keyUses = keys.createKeyUses({ database, clock });
  const inviting = { database, outbox, mail, clock, appUrl: config.APP_URL };
  const checkNewPassword = auth.newPasswordCheck(config.PASSWORD_MIN_LENGTH);

  return {
    implementations: [
      ...auth.inAddressTurns([
        auth.signupEndpoint({ database, outbox, hasher, codes, mail, clock, checkNewPassword }),
        auth.verifyEmailEndpoint({ database, codes, sessions, refusals, clock }),
        auth.resendVerificationEndpoint({ database, codes, mail }),
        auth.loginEndpoint({ database, hasher, guesses, sessions, refusals, clock }),
        auth.forgotPasswordEndpoint({ database, codes, mail }),
        auth.resetPasswordEndpoint({ database, codes, hasher, guesses, refusals, notices, clock, checkNewPassword }),
      ]),
      auth.refreshSessionEndpoint({ database, sessions, clock }),
      auth.logoutEndpoint({ database, clock }),
      auth.changePasswordEndpoint({ database, hasher, guesses, notices, clock, checkNewPassword }),
      auth.switchAccountEndpoint({ database, sessions, clock }),
      mfa.setUpMfaEndpoint({ verifier, mfaCodes, freshProof, clock }),
      mfa.verifyMfaSetupEndpoint({ database, verifier, mfaCodes, sessions, notices, clock }),
      mfa.verifyMfaChallengeEndpoint({ verifier, codeAttempts, sessions }),
      mfa.renewRecoveryCodesEndpoint({ codeAttempts, notices }),
      mfa.disableMfaEndpoint({ codeAttempts, notices }),
      users.getMeEndpoint(database),
      users.updateMeEndpoint({ database, clock }),
      users.listSessionsEndpoint({ database, clock }),
      users.endSessionEndpoint({ database, clock }),
      users.getMyPermissionsEndpoint(database),
      members.listUsersEndpoint(database),
      members.getUserEndpoint(database),
      members.updateUserEndpoint({ database, outbox, clock, requireGroups }),
      members.removeUserEndpoint({ database, outbox, clock }),
      invitations.listInvitationsEndpoint({ database, clock }),
      invitations.createInvitationEndpoint({ ...inviting, requireGroups }),
      invitations.resendInvitationEndpoint(inviting),
      invitations.deleteInvitationEndpoint({ database, clock }),
      invitations.acceptInvitationEndpoint({ database, outbox, clock, hasher, sessions, checkNewPassword }),
      accounts.listAccountsEndpoint(database),
      accounts.getAccountEndpoint(database),
      accounts.updateAccountEndpoint({ database, clock }),
      accounts.closeAccountEndpoint({ outbox, freshProof, clock }),
      accounts.transferOwnershipEndpoint({ outbox, freshProof, notices, clock }),
      accounts.listPlansEndpoint(database),
      accounts.listAccountTypesEndpoint(database),
      ledger.listLedgerEndpoint(database),
      ledger.getBalanceEndpoint(database),
      ledger.createTokenGrantEndpoint({ database, outbox, clock }),
      ledger.createTokenHoldEndpoint({ database, outbox, clock }),
      ledger.captureTokenHoldEndpoint({ database, outbox, clock }),
      ledger.voidTokenHoldEndpoint({ database, outbox, clock }),
      keys.listApiKeysEndpoint({ database, clock }),
      keys.createApiKeyEndpoint(keyWriting),
      keys.getApiKeyEndpoint(database),
      keys.updateApiKeyEndpoint(keyWriting),
      keys.deleteApiKeyEndpoint(keyWriting),
      keys.rotateApiKeyEndpoint(keyWriting),
      keys.exchangeApiKeyEndpoint({ database, signer, clock, uses: keyUses, keyEnvironment }),
      keys.createMachineKeyEndpoint(keyWriting),
      listAuditLogEndpoint(database),
      recordRefusalsEndpoint(database),
      createSupportSessionEndpoint({ database, signer, clock }),
    ],
    writeAudit: keepEntries,
    handlers: [
      ...onAuditRecords,
      groups.onGroupDeleted({ outbox, clock }),
      ...accounts.onSubscriptions({ outbox, clock }),
      ...onPayments({ outbox, mail, clock }),
      ...onRefunds({ outbox, mail, clock }),
      ...onDisputes({ outbox, mail, clock }),
    ],
    jobs: [
      ledgerCheck({
        ...{ service: 'account', sql: database.sql, clock, registry, logger },
        check: (signal) => ledger.checkedTokenLedger(database, { signal }),
      }),
      // Runs in the api, because the uses are in the memory of the processes that issued the tokens.
      { name: 'note-key-uses', every: 5_000, runsIn: 'api', run: () => keyUses.flush() },
      { name: 'expire-token-holds', every: second, run: () => ledger.expireHolds({ database, outbox, clock }) },
      { name: 'expire-token-grants', every: second, run: () => ledger.expireGrants({ database, outbox, clock }) },
      { name: mailJob, every: 1_000, run: () => mail.sendDue() },
    ],
    async drain(deadline) {
      const noted = keyUses
        .flush()
        .catch((err: unknown) => logger.warn({ err }, 'The uses of API keys since the last flush are lost'));
      await withDeadline(deadline, noted);
    },
  };
}
