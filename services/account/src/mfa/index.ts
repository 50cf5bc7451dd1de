export { createCodeAttempts } from './code-attempts.ts';
export { disableMfaEndpoint } from './disable-mfa.ts';
export { expiredChallenges } from './mfa.store.ts';
export { createMfaCodes } from './mfa-codes.ts';
export { renewRecoveryCodesEndpoint } from './renew-recovery-codes.ts';
export { setUpMfaEndpoint } from './set-up-mfa.ts';
export { verifyMfaChallengeEndpoint } from './verify-mfa-challenge.ts';
export { verifyMfaSetupEndpoint } from './verify-mfa-setup.ts';
