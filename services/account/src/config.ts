import { KeysSetting } from '@attribution/auth';
import { setting } from '@attribution/runtime';
import { z } from 'zod';
import { auditRetention } from './audit/index.ts';
import { platformName } from './platform-name.ts';

/** The settings of account, in addition to those that every service has. */
export const accountSettings = z
  .object({
    TOKEN_PRIVATE_KEYS: KeysSetting.meta({
      description:
        'The JSON Web Key Set that access tokens are signed with, or the path of one; the newest key whose time has come signs',
      secret: true,
    }),
    PASSWORD_PEPPER: z.string().min(32, 'must have at least 32 characters').meta({
      description: '32 characters or more; without it no password hash is worth anything',
      secret: true,
      example: 'a pepper of at least 32 characters',
    }),
    OLD_PASSWORD_PEPPERS: setting.list
      .pipe(z.array(z.string().min(32, 'must have at least 32 characters')))
      .optional()
      .meta({
        description:
          'Comma-joined peppers that came before (none may hold a comma), the oldest last: hashes made with them are verified, and renewed at the next sign-in',
        secret: true,
        example: 'an earlier pepper of at least 32 characters',
      }),
    PASSWORD_MIN_LENGTH: setting.count
      .pipe(z.int().min(8).max(128))
      .default(8)
      .meta({ description: 'Characters that a new password has at least' }),
    API_KEY_PREFIX: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/, 'must be lower-case letters and digits')
      .default('atp')
      .meta({ description: 'How access key ids begin' }),
    API_KEY_ENVIRONMENT: z
      .enum(['live', 'stage'])
      .default('stage')
      .meta({ description: 'What follows the prefix in an access key id; `live` does not accept keys of `stage`' }),
    APP_URL: z
      .url()
      .default('http://localhost:3000')
      .meta({ description: 'The product app, where links in e-mails lead' }),
    BCRYPT_COST: setting.count
      .pipe(z.int().min(4).max(16))
      .default(12)
      .meta({ description: 'How much work a password hash is: one more doubles its time' }),
    HASH_WAIT_MS: setting.count.pipe(z.int().min(1)).default(5_000).meta({
      description:
        'How long the hashes of passwords and codes that wait may take together, in milliseconds; beyond it whoever takes most is told to come again (503)',
    }),
    SECRET_KEYS: setting.list.pipe(z.array(z.base64()).min(1)).meta({
      description: 'Comma-joined keys of 32 bytes in base64: the first encrypts, all decrypt',
      secret: true,
      example: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    }),
    ...auditRetention.shape,
    SMTP_URL: z.url().optional().meta({
      description: 'The server that sends mail; this or `MAIL_DIR` is required',
      secret: true,
      example: 'smtp://somebody:something@relay:587',
    }),
    SMTP_REQUIRE_TLS: setting.flag.default(false).meta({
      description:
        'Whether mail is sent over TLS only: by `smtps:`, or a server that turns to it; otherwise TLS is used where the server offers it',
    }),
    MAIL_DIR: z.string().optional().meta({ description: 'A folder in which mail is put as `.eml` files instead' }),
    MAIL_FROM: z
      .string()
      .default(`${platformName} <no-reply@attribution.example>`)
      .meta({ description: 'The sender of mail' }),
  })
  .refine((config) => config.SMTP_URL || config.MAIL_DIR, { message: 'set SMTP_URL or MAIL_DIR', path: ['SMTP_URL'] });

export type AccountConfig = z.output<typeof accountSettings>;
