import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Email, MailedName } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { NewPassword, Password } from './passwords.ts';
import { MfaChallenge, MfaSetupRequired, Session, TokenPair, Verification } from './resources.ts';

const Code = z
  .string()
  .regex(/^\d{6}$/, 'must be the 6 digits of the e-mail')
  .meta({ example: '123456' });

const minute = 60;
const hour = 60 * minute;

export const signup = endpoint({
  operation: 'signup',
  method: 'POST',
  path: '/v2/auth/signup',
  service: 'account',
  summary: 'Sign up',
  description: 'Makes the user, an account that the user owns and its free grant of tokens, and e-mails a code.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: hour, limit: 5, counts: 'requests' },
  body: z.object({ email: Email, password: NewPassword, full_name: MailedName().meta({ example: 'Ada Lovelace' }) }),
  success: {
    status: 202,
    description: 'A code is on its way',
    body: z.object({ user_id: id('user'), account_id: id('account'), verification: Verification }),
  },
  problems: ['conflict'],
});

export const verifyEmail = endpoint({
  operation: 'verify_email',
  method: 'POST',
  path: '/v2/auth/verify-email',
  service: 'account',
  summary: 'Verify the e-mail address',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 15 * minute, limit: 5, counts: 'requests' },
  body: z.object({ email: Email, code: Code }),
  success: {
    status: 200,
    description: 'The first session, or MFA to set up',
    body: z.union([Session, MfaSetupRequired]),
  },
  problems: ['forbidden', 'gone'],
});

export const resendVerification = endpoint({
  operation: 'resend_verification',
  method: 'POST',
  path: '/v2/auth/verify-email/resend',
  service: 'account',
  summary: 'Send the code again',
  description:
    'The same answer for any address; the code before dies. Codes are sent to one address 5 times an hour and 20 times a day at most; more is 429.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 15 * minute, limit: 3, counts: 'requests' },
  body: z.object({ email: Email }),
  success: { status: 202, description: 'Sent, if the address waits for verification' },
});

export const login = endpoint({
  operation: 'login',
  method: 'POST',
  path: '/v2/auth/login',
  service: 'account',
  summary: 'Log in',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 15 * minute, limit: 10, counts: 'unauthorized' },
  body: z.object({ email: Email, password: Password }),
  success: {
    status: 200,
    description: 'A session, or what MFA asks for first',
    body: z.union([Session, MfaChallenge, MfaSetupRequired]),
  },
  problems: ['unauthorized', 'forbidden'],
});

export const refreshSession = endpoint({
  operation: 'refresh_session',
  method: 'POST',
  path: '/v2/auth/refresh',
  service: 'account',
  summary: 'Exchange the refresh token',
  description:
    'Each refresh token works once, within 30 days; a session lasts 90 days in all from its sign-in, also when the account is switched. A refresh token that comes again later than 10 seconds after its exchange ends the whole session; so does one of a session that has not passed MFA, once the account or the user requires it.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: minute, limit: 30, counts: 'requests' },
  body: z.object({ refresh_token: z.string().meta({ example: 'rt_01968f3e-7a4b…' }) }),
  success: { status: 200, description: 'New tokens', body: TokenPair },
  problems: ['unauthorized'],
});

export const logout = endpoint({
  operation: 'logout',
  method: 'POST',
  path: '/v2/auth/logout',
  service: 'account',
  summary: 'Log out',
  description: 'Ends the session that the token belongs to, and no other.',
  access: { credential: 'any', about_self: true },
  success: { status: 204, description: 'Ended' },
});

export const forgotPassword = endpoint({
  operation: 'forgot_password',
  method: 'POST',
  path: '/v2/auth/forgot-password',
  service: 'account',
  summary: 'Ask for a password reset code',
  description:
    'The same answer for any address. Codes are sent to one address 5 times an hour and 20 times a day at most; more is 429.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 15 * minute, limit: 3, counts: 'requests' },
  body: z.object({ email: Email }),
  success: { status: 202, description: 'Sent, if the address is known' },
});

export const resetPassword = endpoint({
  operation: 'reset_password',
  method: 'POST',
  path: '/v2/auth/reset-password',
  service: 'account',
  summary: 'Set a new password with the code',
  description: 'Ends all sessions of the user and starts none. A refused password does not spend the code.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 15 * minute, limit: 5, counts: 'requests' },
  body: z.object({ email: Email, code: Code, new_password: NewPassword }),
  success: { status: 204, description: 'Changed' },
  problems: ['gone'],
});
