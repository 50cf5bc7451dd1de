import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { NewPassword, Password } from './passwords.ts';
import { Member, MemberChange, SeenMember, SessionInfo, UserChange } from './people.resources.ts';
import { User } from './resources.ts';

const service = 'account';
const caller = { credential: 'person', about_self: true } as const;
const admins = { credential: 'person', roles: ['owner', 'admin'] } as const;
const userId = z.object({ id: id('user') });

export const updateMe = endpoint({
  operation: 'update_me',
  method: 'PATCH',
  path: '/v2/users/me',
  service,
  summary: 'Change what is known of the caller',
  access: caller,
  body: UserChange.extend(unchangeable('id', 'email', 'email_verified', 'mfa_enabled', 'created_at')),
  success: { status: 200, description: 'The user', body: User },
});

export const changePassword = endpoint({
  operation: 'change_password',
  method: 'POST',
  path: '/v2/users/me/password',
  service,
  summary: 'Change the password',
  description: 'Ends all other sessions of the user.',
  access: caller,
  body: z.object({ current_password: Password, new_password: NewPassword }),
  success: { status: 204, description: 'Changed' },
  problems: ['rate-limited'],
});

export const listSessions = endpoint({
  operation: 'list_sessions',
  method: 'GET',
  path: '/v2/users/me/sessions',
  service,
  summary: "The caller's sessions",
  description: 'Those that have not ended, in every account of the user, newest first.',
  access: caller,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of sessions', body: Page(SessionInfo) },
});

export const endSession = endpoint({
  operation: 'end_session',
  method: 'DELETE',
  path: '/v2/users/me/sessions/{id}',
  service,
  summary: 'End one session of the caller',
  access: caller,
  params: z.object({ id: id('refresh_token') }),
  success: { status: 204, description: 'Ended' },
});

export const listUsers = endpoint({
  operation: 'list_users',
  method: 'GET',
  path: '/v2/users',
  service,
  summary: 'The users of this account',
  description: 'A caller of some groups sees itself, and the users with whom it shares a group.',
  access: { credential: 'person' },
  query: z.object(pageQuery),
  success: {
    status: 200,
    description: 'A page of users, in the order in which they were made',
    body: Page(SeenMember),
  },
});

export const getUser = endpoint({
  operation: 'get_user',
  method: 'GET',
  path: '/v2/users/{id}',
  service,
  summary: 'A user of this account',
  access: { credential: 'person' },
  params: userId,
  success: { status: 200, description: 'The user', body: SeenMember },
});

export const updateUser = endpoint({
  operation: 'update_user',
  method: 'PATCH',
  path: '/v2/users/{id}',
  service,
  summary: 'Change what a user may do, or disable it here',
  description:
    'Ends the refresh tokens of the user in this account. Nobody changes their own role, and an admin does not touch the owner.',
  access: admins,
  params: userId,
  body: MemberChange.extend(
    unchangeable('id', 'email', 'full_name', 'email_verified', 'mfa_enabled', 'joined_at', 'account_id'),
  ).meta({ id: 'MemberChange', example: { role: 'member', group_scope: 'selected', groups: [] } }),
  success: { status: 200, description: 'The user', body: Member },
  problems: ['unprocessable', 'conflict'],
});

export const removeUser = endpoint({
  operation: 'remove_user',
  method: 'DELETE',
  path: '/v2/users/{id}',
  service,
  summary: 'Take a user out of this account',
  description: 'Ends its sessions here. The owner is never removed: ownership is handed over first.',
  access: admins,
  params: userId,
  success: { status: 204, description: 'Removed' },
  problems: ['conflict'],
});
