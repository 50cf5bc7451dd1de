import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { MailedName } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { NewPassword } from './passwords.ts';
import { Invitation, NewInvitation } from './people.resources.ts';
import { MfaSetupRequired, Session } from './resources.ts';

const service = 'account';
const access = { credential: 'person', roles: ['owner', 'admin'] } as const;
const invitationId = z.object({ id: id('invitation') });

export const listInvitations = endpoint({
  operation: 'list_invitations',
  method: 'GET',
  path: '/v2/invitations',
  service,
  summary: 'Invitations of this account',
  description: 'Newest first, accepted and expired ones among them.',
  access,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of invitations', body: Page(Invitation) },
});

export const createInvitation = endpoint({
  operation: 'create_invitation',
  method: 'POST',
  path: '/v2/invitations',
  service,
  summary: 'Invite somebody by e-mail',
  description:
    'The e-mail holds a link with `token=`, good for 7 days. An account sends 100 invitations a day at most, and to one address 5 an hour and 20 a day; more is 409.',
  access,
  body: NewInvitation,
  idempotent: true,
  success: { status: 201, description: 'The invitation', body: Invitation },
  problems: ['conflict', 'unprocessable'],
});

export const resendInvitation = endpoint({
  operation: 'resend_invitation',
  method: 'POST',
  path: '/v2/invitations/{id}/resend',
  service,
  summary: 'Send an invitation again',
  description: 'With a new link, good for 7 days from now; the one before dies. It counts like a new invitation.',
  access,
  params: invitationId,
  success: { status: 202, description: 'On its way' },
  problems: ['conflict', 'unprocessable'],
});

export const deleteInvitation = endpoint({
  operation: 'delete_invitation',
  method: 'DELETE',
  path: '/v2/invitations/{id}',
  service,
  summary: 'Take an invitation back',
  access,
  params: invitationId,
  success: { status: 204, description: 'Its link opens nothing any more' },
});

export const acceptInvitation = endpoint({
  operation: 'accept_invitation',
  method: 'POST',
  path: '/v2/invitations/accept',
  service,
  summary: 'Accept an invitation',
  description:
    'A newcomer gives full_name and password, and becomes a verified user. Who has a user with the invited address is signed in as that user.',
  access: { credential: 'optional' },
  body: z.object({
    token: z.string().min(1).max(512).meta({ description: '`token=` of the link' }),
    full_name: MailedName().optional(),
    password: NewPassword.optional(),
  }),
  success: {
    status: 200,
    description: 'A session in the account, or MFA to set up',
    body: z.union([Session, MfaSetupRequired]),
  },
  problems: ['not-found', 'gone', 'conflict'],
});
