import {
  acceptInvitation,
  createGroup,
  createInvitation,
  createLocation,
  getMyPermissions,
  listLocations,
  login,
  refreshSession,
  type Session,
  setUpMfa,
  updateAccount,
  updateUser,
  verifyMfaChallenge,
  verifyMfaSetup,
} from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

/** A member, from the invitation to the second factor. */
export function peopleJourney(on: () => Platform): void {
  test('an invited member sees the granted groups, loses access with the grant, and needs a second factor once it is required', async () => {
    const owner = await newOwner(on());
    const anyone = on().client.with({ headers: fromSomewhere() });
    const newShop = async (group: string, name: string) => {
      const group_id = (await owner.client.call(createGroup, { body: { name: group } })).body.id;
      const timezone = 'Europe/Zurich';
      return (await owner.client.call(createLocation, { body: { group_id, name, timezone } })).body;
    };
    const [north, south] = [await newShop('North', 'Aarau'), await newShop('South', 'Lugano')];

    const email = newEmail();
    const groups = [north.group_id];
    const invited = await owner.client.call(createInvitation, { body: { email, group_scope: 'selected', groups } });
    expect(invited.body).toMatchObject({ status: 'pending', groups: [{ group_id: north.group_id, role: 'm' }] });
    const token = await on().mailbox.tokenFor(email);
    const accepted = await anyone.call(acceptInvitation, { body: { token, full_name: 'Grace Hopper', password } });
    const session = accepted.body as z.output<typeof Session>;
    const member = on().client.with({ token: session.access_token });
    const seen = async () => (await member.call(listLocations)).body.entries.map(({ name }) => name);
    expect(await seen()).toEqual(['Aarau']);
    expect((await anyone.call(acceptInvitation, { body: { token } })).problem?.kind).toBe('gone');

    const change = { group_scope: 'selected' as const, groups: [{ group_id: south.group_id, role: 'a' as const }] };
    await owner.client.call(updateUser, { params: { id: session.user.id }, body: change });
    const refreshed = await anyone.call(refreshSession, { body: { refresh_token: session.refresh_token } });
    expect(refreshed.status).toBe(401);
    expect(await seen()).toEqual(['Aarau']);
    expect((await member.call(getMyPermissions)).body).toMatchObject({ groups: change.groups });

    const params = { id: owner.account_id };
    await owner.client.call(updateAccount, { params, body: { require_mfa: true } });
    const credentials = { body: { email, password } };
    const { setup_token } = (await anyone.call(login, credentials)).body as { setup_token: string };
    const { secret, otpauth_uri } = (await anyone.call(setUpMfa, { body: { setup_token } })).body;
    expect(otpauth_uri).toContain(secret);
    const first = await on().nextCode(secret);
    const enrolled = await anyone.call(verifyMfaSetup, { body: { setup_token, code: first } });
    expect(enrolled.body).toMatchObject({ access_token: expect.any(String), recovery_codes: expect.any(Array) });

    const challenged = async () => (await anyone.call(login, credentials)).body as { challenge_token: string };
    const { challenge_token } = await challenged();
    const code = await on().nextCode(secret);
    const entered = await anyone.call(verifyMfaChallenge, { body: { challenge_token, code } });
    expect(entered.status).toBe(200);
    const again = await challenged();
    expect((await anyone.call(verifyMfaChallenge, { body: { ...again, code } })).status).toBe(400);
    const next = { challenge_token: again.challenge_token, code: await on().nextCode(secret) };
    const inAgain = (await anyone.call(verifyMfaChallenge, { body: next })).body as z.output<typeof Session>;
    const now = on().client.with({ token: inAgain.access_token });
    expect((await now.call(listLocations)).body.entries.map(({ name }) => name)).toEqual(['Lugano']);
  });
}
