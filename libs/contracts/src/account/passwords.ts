import { z } from 'zod';

/** The rules for a new password are in the service, because a login must accept every password that was valid once. */
export const Password = z.string().min(1).max(1024).meta({ format: 'password', example: 'seven quiet lanterns' });
export const NewPassword = Password.meta({
  description:
    '8 to 128 characters, counted in the normal form NFKC; not a common one, the address of the user, the name of the platform, or one character over and over',
  minLength: 8,
  maxLength: 128,
});
