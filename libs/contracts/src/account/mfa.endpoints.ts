import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { EnrolledSession, MfaSetup, RecoveryCodes } from './people.resources.ts';
import { freshProof, MfaCode } from './proof.ts';
import { Session } from './resources.ts';

const service = 'account';
const caller = { credential: 'person', about_self: true } as const;

const setupToken = z.string().min(1).max(8192).meta({ description: 'Where there is no session: of the login' });
const TotpCode = z
  .string()
  .regex(/^\d{6}$/, 'must be the 6 digits of the authenticator')
  .meta({ example: '123456' });

export const setUpMfa = endpoint({
  operation: 'set_up_mfa',
  method: 'POST',
  path: '/v2/mfa/setup',
  service,
  summary: 'Begin to set up MFA',
  description:
    'With the setup_token of a login, or with a session and the password, which a session that was signed in within 10 minutes does not need. Beginning again gives a new secret.',
  access: { credential: 'optional' },
  body: z.object({ setup_token: setupToken.optional(), password: freshProof.password }).optional(),
  success: { status: 200, description: 'What the authenticator needs', body: MfaSetup },
  problems: ['conflict', 'rate-limited'],
});

export const verifyMfaSetup = endpoint({
  operation: 'verify_mfa_setup',
  method: 'POST',
  path: '/v2/mfa/setup/verify',
  service,
  summary: 'Prove the authenticator, which turns MFA on',
  description: 'Ends the other sessions of the user: they have not passed it.',
  access: { credential: 'optional' },
  body: z.object({ code: TotpCode, setup_token: setupToken.optional() }),
  success: {
    status: 200,
    description: 'Recovery codes, shown once; with a setup_token the session as well',
    body: z.union([EnrolledSession, RecoveryCodes]),
  },
  problems: ['conflict'],
});

export const verifyMfaChallenge = endpoint({
  operation: 'verify_mfa_challenge',
  method: 'POST',
  path: '/v2/mfa/challenge/verify',
  service,
  summary: 'Finish a login with a code',
  description: 'Five attempts a challenge; each code works once.',
  access: { credential: 'none' },
  body: z.object({ challenge_token: z.string().min(1).max(8192), code: MfaCode }),
  success: { status: 200, description: 'A session', body: Session },
  problems: ['unauthorized', 'rate-limited'],
});

export const renewRecoveryCodes = endpoint({
  operation: 'renew_recovery_codes',
  method: 'POST',
  path: '/v2/mfa/recovery-codes',
  service,
  summary: 'Make new recovery codes',
  description: 'The ones before die.',
  access: caller,
  body: z.object({ code: MfaCode }),
  success: { status: 200, description: 'Recovery codes, shown once', body: RecoveryCodes },
  problems: ['conflict', 'rate-limited'],
});

export const disableMfa = endpoint({
  operation: 'disable_mfa',
  method: 'POST',
  path: '/v2/mfa/disable',
  service,
  summary: 'Turn MFA off',
  description: 'Not while an account of the user requires it.',
  access: caller,
  body: z.object({ code: MfaCode }),
  success: { status: 204, description: 'Off' },
  problems: ['conflict', 'rate-limited'],
});
