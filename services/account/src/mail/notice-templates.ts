import { escapeHtml, oneLine, page, paragraph } from './html.ts';
import type { Mail } from './mail.ts';

/** What has happened to a person's credentials. */
export type Notice =
  | { readonly kind: 'password_changed' | 'mfa_enabled' | 'mfa_disabled' | 'new_range' }
  | { readonly kind: 'recovery_codes_renewed' | 'recovery_code_used' }
  | { readonly kind: 'api_key_created' | 'api_key_rotated'; readonly keyId: string }
  | { readonly kind: 'ownership_given' | 'ownership_received'; readonly accountName: string };

interface NoticeMail {
  readonly to: string;
  readonly fullName: string;
  readonly notice: Notice;
  readonly happenedAt: Date;
  /** Where it was done from. */
  readonly ip: string;
}

const after =
  'If this was you, you need not do anything. If it was not, reset your password at once, which ends all your sessions; then look at the API keys and users of your accounts, and write to us.';

/** A message with neither a link nor a secret. */
export function noticeMail({ to, fullName, notice, happenedAt, ip }: NoticeMail): Mail {
  const { subject, what } = wordsOf(notice);
  const greeting = `Hello ${oneLine(fullName)},`;
  const facts = [`When: ${timeOf(happenedAt)}`, `From: ${oneLine(ip)}`];
  return {
    to,
    subject,
    text: [greeting, what, facts.join('\n'), after, ''].join('\n\n'),
    html: page(subject, [
      paragraph(greeting),
      paragraph(what),
      `<p style="margin:24px 0">${facts.map(escapeHtml).join('<br>')}</p>`,
      `<p style="margin:0;color:#5b6470">${escapeHtml(after)}</p>`,
    ]),
  };
}

/** `2026-03-01 09:30 UTC` */
const timeOf = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function wordsOf(notice: Notice): { subject: string; what: string } {
  switch (notice.kind) {
    case 'password_changed':
      return { subject: 'Your password was changed', what: 'The password of your user was changed.' };
    case 'mfa_enabled':
      return {
        subject: 'MFA was turned on',
        what: 'An authenticator and new recovery codes were set up. From now on a login asks for a code.',
      };
    case 'mfa_disabled':
      return {
        subject: 'MFA was turned off',
        what: 'The authenticator and the recovery codes were removed. A login no longer asks for a code.',
      };
    case 'recovery_codes_renewed':
      return {
        subject: 'New recovery codes were made',
        what: 'New recovery codes were made for your user. Those from before no longer work.',
      };
    case 'recovery_code_used':
      return {
        subject: 'A recovery code was used',
        what: 'A recovery code was used in place of a code of your authenticator. It does not work again.',
      };
    case 'new_range':
      return {
        subject: 'You signed in from a new place',
        what: 'Somebody has signed in as you from an internet address unlike those that you have signed in from before.',
      };
    case 'api_key_created':
      return { subject: 'A new API key was made', what: `The API key ${notice.keyId} was made in your name.` };
    case 'api_key_rotated':
      return {
        subject: 'An API key was replaced',
        what: `A new API key, ${notice.keyId}, was made in your name to replace another one.`,
      };
    case 'ownership_given':
      return {
        subject: 'Your account was handed over',
        what: `You are no longer the owner of the account “${oneLine(notice.accountName)}”, but one of its admins.`,
      };
    case 'ownership_received':
      return {
        subject: 'You own an account now',
        what: `The account “${oneLine(notice.accountName)}” was handed over to you: you are its owner now.`,
      };
  }
}
