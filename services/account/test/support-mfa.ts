import {
  type Client,
  disableMfa,
  setUpMfa,
  updateAccount,
  verifyMfaChallenge,
  verifyMfaSetup,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { generateSync } from 'otplib';
import { join, logIn, type Person, password } from './support.ts';

const step = 30;

/** The code of an authenticator at this time, `steps` later or earlier. */
export const codeAt = (secret: string, at: Date, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(at.getTime() / 1000) + steps * step });

/** Moves the clock to the beginning of the next time step, so that the test does not run across the end of a step. */
export function nextStep(service: TestService): Date {
  service.clock.advance({ seconds: step - ((service.clock.now().getTime() / 1000) % step) + 1 });
  return service.clock.now();
}

/** A code that was not used before. */
export const nextCode = (service: TestService, secret: string): string => codeAt(secret, nextStep(service));

/** Six digits that no step around has. */
export function wrongCode(service: TestService, secret: string): string {
  const now = service.clock.now();
  const right = [-2, -1, 0, 1, 2].map((steps) => codeAt(secret, now, steps));
  const wrong = ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code));
  return wrong ?? '666666';
}

/** Begins to set MFA up; the secret. */
export const beginSetup = async (client: Client): Promise<string> => (await client.call(setUpMfa)).body.secret;

export interface Enrolled extends Person {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

/** Turns MFA on by the person's session. */
export async function enrol(service: TestService, person: Person): Promise<Enrolled> {
  const secret = await beginSetup(person.client);
  const { body } = await person.client.call(verifyMfaSetup, { body: { code: nextCode(service, secret) } });
  return { ...person, secret, recoveryCodes: body.recovery_codes };
}

export const joinWithMfa = async (service: TestService): Promise<Enrolled> => enrol(service, await join(service));

/** The challenge of a login. */
export async function challengeOf(service: TestService, email: string, withPassword = password): Promise<string> {
  const { body } = await logIn(service, email, withPassword);
  if (!('challenge_token' in body)) throw new Error(`No challenge: ${Object.keys(body).join(', ')}`);
  return body.challenge_token;
}

export const answer = (service: TestService, challenge_token: string, code: string) =>
  service.client.call(verifyMfaChallenge, { body: { challenge_token, code } });

export const turnOff = (client: Client, code: string) => client.call(disableMfa, { body: { code } });

export const requireMfa = ({ client, accountId }: Person, require_mfa = true) =>
  client.call(updateAccount, { params: { id: accountId }, body: { require_mfa } });

/** The setup_token of a login. */
export async function setupTokenOf(service: TestService, email: string, withPassword = password): Promise<string> {
  const { body } = await logIn(service, email, withPassword);
  if (!('setup_token' in body)) throw new Error(`No setup token: ${Object.keys(body).join(', ')}`);
  return body.setup_token;
}
