import { KeysSetting } from '@attribution/auth';
import { readConfig, setting } from '@attribution/runtime';
import { z } from 'zod';

/** What account reads besides what every service does. */
export const accountSettings = z
  .object({
    TOKEN_PRIVATE_KEYS: KeysSetting,
    PASSWORD_PEPPER: z.string().min(32, 'must have at least 32 characters'),
    PASSWORD_MIN_LENGTH: setting.count.pipe(z.int().min(8).max(128)).default(8),
    /** Before the environment in an access key id. */
    API_KEY_PREFIX: z
      .string()
      .regex(/^[a-z0-9]{1,20}$/, 'must be lower-case letters and digits')
      .default('atp'),
    API_KEY_ENVIRONMENT: z.enum(['live', 'stage']).default('stage'),
    APP_URL: z.url().default('http://localhost:3000'),
    ORGANIZATION_URL: z.url(),
    BCRYPT_COST: setting.count.pipe(z.int().min(4).max(16)).default(12),
    SECRET_KEYS: setting.list.pipe(z.array(z.base64()).min(1)),
    SMTP_URL: z.url().optional(),
    MAIL_DIR: z.string().optional(),
    MAIL_FROM: z.string().default('Attribution Platform <no-reply@attribution.example>'),
  })
  .refine((config) => config.SMTP_URL || config.MAIL_DIR, { message: 'set SMTP_URL or MAIL_DIR', path: ['SMTP_URL'] });

export type AccountConfig = z.output<typeof accountSettings>;

export function readAccountConfig(environment: Readonly<Record<string, string | undefined>>): AccountConfig {
  return readConfig(accountSettings, environment);
}
