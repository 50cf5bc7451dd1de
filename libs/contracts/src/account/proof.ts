import { z } from 'zod';
import { Password } from './passwords.ts';

export const MfaCode = z
  .string()
  .min(6, 'must be a code of the authenticator or a recovery code')
  .max(32)
  .meta({ description: '6 digits of the authenticator, or a recovery code', example: '123456' });

const unless = 'Needed unless the session was signed in within 10 minutes';

/** The fields of a request that prove that it comes from the person, and not only from who has the access token. */
export const freshProof = {
  password: Password.optional().meta({ description: unless }),
  code: MfaCode.optional().meta({ description: `${unless}, where MFA is on: in place of the password` }),
};
