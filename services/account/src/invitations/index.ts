export { acceptInvitationEndpoint } from './accept-invitation.ts';
export { createInvitationEndpoint } from './create-invitation.ts';
export { deleteInvitationEndpoint } from './delete-invitation.ts';
export { listInvitationsEndpoint } from './list-invitations.ts';
export { resendInvitationEndpoint } from './resend-invitation.ts';
