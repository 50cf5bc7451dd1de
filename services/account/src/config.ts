import { KeysSetting } from '@attribution/auth';
import { setting } from '@attribution/runtime';
import { z } from 'zod';

/** What account reads besides what every service does. */
export const accountSettings = z
  .object({
    TOKEN_PRIVATE_KEYS: KeysSetting.meta({
      description: 'JSON Web Key Set, or the path of one; the newest key whose time has come signs',
      secret: true,
    }),
    PASSWORD_PEPPER: z.string().min(32, 'must have at least 32 characters').meta({
      description: '32 characters or more; without it no password hash is worth anything',
      secret: true,
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
      .meta({ description: 'What follows the prefix in an access key id; keys of `stage` are nothing to `live`' }),
    APP_URL: z
      .url()
      .default('http://localhost:3000')
      .meta({ description: 'The product app, where links in e-mails lead' }),
    BCRYPT_COST: setting.count
      .pipe(z.int().min(4).max(16))
      .default(12)
      .meta({ description: 'Of a password hash: one more doubles its time' }),
    SECRET_KEYS: setting.list
      .pipe(z.array(z.base64()).min(1))
      .meta({ description: 'Comma-joined keys of 32 bytes in base64: the first encrypts, all decrypt', secret: true }),
    SMTP_URL: z
      .url()
      .optional()
      .meta({ description: 'The server that mail goes to; this or `MAIL_DIR`', secret: true }),
    MAIL_DIR: z.string().optional().meta({ description: 'A folder that mail goes to as `.eml` files, instead' }),
    MAIL_FROM: z
      .string()
      .default('Attribution Platform <no-reply@attribution.example>')
      .meta({ description: 'The sender of mail' }),
  })
  .refine((config) => config.SMTP_URL || config.MAIL_DIR, { message: 'set SMTP_URL or MAIL_DIR', path: ['SMTP_URL'] });

export type AccountConfig = z.output<typeof accountSettings>;
