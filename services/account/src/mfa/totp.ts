import { generateSecret, generateURI, verifySync } from 'otplib';
import { platformName } from '../platform-name.ts';

/**
 * RFC 6238 with the parameters that every authenticator supports: SHA-1, 6 digits, 30 s. One step early or late is
 * accepted (decision 16).
 */
const period = 30;

/** A new secret in base32. */
export const newTotpSecret = (): string => generateSecret({ length: 20 });

/** The content of the QR code for an authenticator. */
export const otpauthUri = (secret: string, email: string): string =>
  generateURI({ issuer: platformName, label: email, secret, period });

/** The time step that the code belongs to, or undefined. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const epoch = Math.floor(now.getTime() / 1000);
  const result = verifySync({ secret, token: code, epoch, period, epochTolerance: period });
  return result.valid ? Math.floor(epoch / period) + result.delta : undefined;
}
