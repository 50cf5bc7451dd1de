import {
  createInvitation,
  deleteInvitation,
  getUser,
  listInvitations,
  listUsers,
  removeUser,
  resendInvitation,
  updateUser,
} from '@attribution/contracts';
import type { StatementTable, TestService } from '@attribution/testing';
import { join, newEmail } from './support.ts';
import { addGroup } from './support-keys.ts';
import { capture, grant, hold, holdId, release } from './support-ledger.ts';
import { accept, addMember, invite } from './support-members.ts';

/** The statements that the endpoints of members and invitations send; there are `rows` of each, with `rows` groups. */
export function peopleStatements(service: () => TestService): StatementTable {
  async function joinedWithGroups(groups: number) {
    const owner = await join(service());
    const ids: string[] = [];
    for (let n = 0; n < groups; n++) ids.push(await addGroup(service(), owner.accountId));
    return { ...owner, rights: { group_scope: 'selected' as const, groups: ids } };
  }
  async function joinedWithMember(groups: number) {
    const owner = await joinedWithGroups(groups);
    return { ...owner, member: await addMember(service(), owner, owner.rights) };
  }
  async function joinedWithInvitation(groups: number) {
    const owner = await joinedWithGroups(groups);
    return { ...owner, invitation: await invite(service(), owner, owner.rights) };
  }

  return {
    list_users: {
      statements: 1,
      async prepare(rows) {
        const owner = await joinedWithGroups(3);
        for (let n = 1; n < rows; n++) await addMember(service(), owner, owner.rights);
        return () => owner.client.call(listUsers);
      },
    },
    get_user: {
      statements: 1,
      async prepare(rows) {
        const { client, member } = await joinedWithMember(rows);
        return () => client.call(getUser, { params: { id: member.userId } });
      },
    },
    update_user: {
      statements: 16,
      async prepare(rows) {
        const { client, member, rights } = await joinedWithMember(rows);
        const groups = rights.groups.map((group_id) => ({ group_id, role: 'a' as const }));
        return () => client.call(updateUser, { params: { id: member.userId }, body: { ...rights, groups } });
      },
    },
    remove_user: {
      statements: 12,
      async prepare(rows) {
        const { client, member } = await joinedWithMember(rows);
        return () => client.call(removeUser, { params: { id: member.userId } });
      },
    },
    list_invitations: {
      statements: 1,
      async prepare(rows) {
        const owner = await joinedWithGroups(3);
        for (let n = 0; n < rows; n++) await invite(service(), owner, owner.rights);
        return () => owner.client.call(listInvitations);
      },
    },
    create_invitation: {
      statements: 18,
      async prepare(rows) {
        const { client, rights } = await joinedWithGroups(rows);
        return () => client.call(createInvitation, { body: { email: newEmail(), ...rights } });
      },
    },
    resend_invitation: {
      statements: 13,
      async prepare(rows) {
        const { client, invitation } = await joinedWithInvitation(rows);
        return () => client.call(resendInvitation, { params: { id: invitation.id } });
      },
    },
    delete_invitation: {
      statements: 6,
      async prepare(rows) {
        const { client, invitation } = await joinedWithInvitation(rows);
        return () => client.call(deleteInvitation, { params: { id: invitation.id } });
      },
    },
    accept_invitation: {
      statements: 22,
      async prepare(rows) {
        const { invitation } = await joinedWithInvitation(rows);
        return () => accept(service(), invitation.token);
      },
    },
  };
}

/** The statements that other services' calls to the token ledger send. */
export function ledgerStatements(service: () => TestService): StatementTable {
  const accountWithGrants = async (grants: number) => {
    const { accountId } = await join(service());
    for (let n = 1; n < grants; n++) await grant(service(), accountId);
    return accountId;
  };
  return {
    create_token_grant: {
      statements: 7,
      async prepare(rows) {
        const accountId = await accountWithGrants(rows);
        return () => grant(service(), accountId);
      },
    },
    create_token_hold: {
      statements: 1,
      async prepare(rows) {
        const accountId = await accountWithGrants(rows);
        return () => hold(service(), accountId);
      },
    },
    capture_token_hold: {
      statements: 8,
      async prepare(rows) {
        const accountId = await accountWithGrants(rows);
        const amount = 1000 + 100 * (rows - 1);
        const id = await holdId(service(), accountId, { amount });
        return () => capture(service(), id, amount);
      },
    },
    void_token_hold: {
      statements: 6,
      async prepare(rows) {
        const id = await holdId(service(), await accountWithGrants(rows));
        return () => release(service(), id);
      },
    },
  };
}
