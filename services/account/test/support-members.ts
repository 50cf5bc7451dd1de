import { acceptInvitation, type Client, createInvitation, type NewInvitation } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import type { z } from 'zod';
import { fullName, newEmail, type Person, password, requireSession, rows } from './support.ts';

type InvitationFields = Partial<z.input<typeof NewInvitation>>;

/** Invites a new address, or the given one, as a member unless the fields say otherwise. */
export async function invite(service: TestService, inviter: Pick<Person, 'client'>, fields: InvitationFields = {}) {
  const email = fields.email ?? newEmail();
  const mails = (await service.mailbox.messagesTo(email)).length;
  const { body } = await inviter.client.call(createInvitation, { body: { ...fields, email } });
  return { ...body, token: await service.mailbox.tokenFor(body.email, mails + 1) };
}

/** Accepts as a newcomer. */
export const accept = (service: TestService, token: string, fields: object = { full_name: fullName, password }) =>
  service.client.call(acceptInvitation, { body: { token, ...fields } });

/** Accepts an invitation as a signed-in user. */
export const acceptAs = (client: Client, token: string) => client.call(acceptInvitation, { body: { token } });

/** Invites a user who accepts, and returns the user with the session opened in the account. */
export async function addMember(service: TestService, inviter: Person, fields: InvitationFields = {}): Promise<Person> {
  const { email, token } = await invite(service, inviter, fields);
  const session = requireSession((await accept(service, token)).body);
  const client = service.client.with({ token: session.access_token });
  return { email, userId: session.user.id, accountId: inviter.accountId, session, client };
}

/** The newest record of this action about the subject in the audit log. */
export async function latestDeed(service: TestService, subjectId: string): Promise<object | undefined> {
  const [record] = await rows(
    service,
    'SELECT account_id, action, outcome, actor_type, actor_id, details FROM audit_log WHERE subject_id = $1 ORDER BY id DESC LIMIT 1',
    subjectId,
  );
  return record;
}

/** The reasons why a user's sessions in an account have ended; null for one that has not. */
export const endingsOf = async (service: TestService, { userId, accountId }: Pick<Person, 'userId' | 'accountId'>) =>
  (
    await rows<{ end_reason: string | null }>(
      service,
      'SELECT end_reason FROM sessions WHERE user_id = $1 AND account_id = $2 ORDER BY id',
      userId,
      accountId,
    )
  ).map(({ end_reason }) => end_reason);
