import { createHmac, timingSafeEqual } from 'node:crypto';

/** In seconds, as at Stripe: an older notification may be a replay. */
const tolerance = 300;

const digest = (time: number, body: Buffer | string, secret: string) =>
  createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');

/**
 * The `Stripe-Signature` header, with one signature per secret, as during a rotation. `at` is in seconds since the
 * epoch.
 */
export const signWebhook = (body: Buffer | string, secrets: readonly string[], at: number): string =>
  [`t=${at}`, ...secrets.map((secret) => `v1=${digest(at, body, secret)}`)].join(',');

/**
 * Whether the header has a signature of this body by one of the secrets that is not too old at `now` (in seconds since
 * the epoch). https://docs.stripe.com/webhooks/signature
 */
export function isSigned(
  body: Buffer | string,
  header: string | undefined,
  secrets: readonly string[],
  now: number,
): boolean {
  const { time, signatures } = parseHeader(header ?? '');
  if (time === undefined || now - time > tolerance) return false;
  const expected = secrets.filter(Boolean).map((secret) => digest(time, body, secret));
  return signatures.some((signature) => expected.some((right) => equal(signature, right)));
}

function parseHeader(header: string): { time: number | undefined; signatures: string[] } {
  const fields = header.split(',').map((field) => field.trim().split('='));
  const valuesOf = (name: string) => fields.filter(([key]) => key === name).map(([, value]) => value ?? '');
  const [time] = valuesOf('t');
  return { time: time && /^\d{1,12}$/.test(time) ? Number(time) : undefined, signatures: valuesOf('v1') };
}

function equal(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
