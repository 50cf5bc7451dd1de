import { createHash, randomBytes } from 'node:crypto';

/** Days for which an invitation link is valid. */
const days = 7;

/** The secret of a link, and the hash that is stored. 256 random bits need no slow hash. */
export function newInvitationToken(): { token: string; hash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashInvitationToken(token) };
}

export const hashInvitationToken = (token: string): string => createHash('sha256').update(token).digest('hex');

export const invitationExpiry = (now: Date): Date => new Date(now.getTime() + days * 24 * 60 * 60 * 1000);

/** The page of the product app on which an invitation is accepted. */
export function invitationLink(appUrl: string, token: string): string {
  const link = new URL('invitations/accept', appUrl.endsWith('/') ? appUrl : `${appUrl}/`);
  link.searchParams.set('token', token);
  return link.href;
}
