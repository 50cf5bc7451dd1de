import { platformName } from '../platform-name.ts';
import { escapeHtml, oneLine, page, paragraph } from './html.ts';
import type { Mail } from './mail.ts';

interface CodeMail {
  readonly to: string;
  readonly fullName: string;
  readonly code: string;
  readonly minutes: number;
}

export function verificationMail(mail: CodeMail): Mail {
  return codeMail(mail, {
    subject: 'Your verification code',
    before: 'Welcome. To finish signing up, enter this code:',
    after: 'If you did not sign up, you need not do anything.',
  });
}

export function passwordResetMail(mail: CodeMail): Mail {
  return codeMail(mail, {
    subject: 'Your password reset code',
    before: 'To set a new password, enter this code:',
    after: 'If you did not ask for it, your password stays as it is.',
  });
}

/** To the person at whose address somebody guesses. */
export function guessesMail(mail: { to: string; fullName: string }): Mail {
  const fullName = oneLine(mail.fullName);
  const subject = 'Many wrong sign-ins with your address';
  const before = `Somebody has often tried to sign in to the ${platformName} with your address, and a wrong password or code. None was right.`;
  const meanwhile =
    'Until that ends, further tries are refused for some minutes each, except where you have signed in lately.';
  const after = 'If it was you, set a new password. If not, you need not do anything.';
  return {
    to: mail.to,
    subject,
    text: [`Hello ${fullName},`, before, meanwhile, after, ''].join('\n\n'),
    html: page(subject, [`Hello ${fullName},`, before, meanwhile, after].map(paragraph)),
  };
}

export function invitationMail(mail: { to: string; accountName: string; link: string }): Mail {
  const { to, link } = mail;
  const accountName = oneLine(mail.accountName);
  const subject = `You are invited to ${accountName}`;
  const before = `You are invited to the account “${accountName}” on the ${platformName}. Follow this link to accept:`;
  const after = 'It works once, within 7 days. If you do not know it, you need not do anything.';
  return {
    to,
    subject,
    text: ['Hello,', before, link, after, ''].join('\n\n'),
    html: page(subject, [
      paragraph('Hello,'),
      paragraph(before),
      `<p style="margin:24px 0"><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`,
      `<p style="margin:0;color:#5b6470">${escapeHtml(after)}</p>`,
    ]),
  };
}

function codeMail(mail: CodeMail, words: { subject: string; before: string; after: string }): Mail {
  const { to, code, minutes } = mail;
  const fullName = oneLine(mail.fullName);
  const lifetime = `It works once, within ${minutes} minutes.`;
  return {
    to,
    subject: words.subject,
    text: [`Hello ${fullName},`, words.before, code, lifetime, words.after, ''].join('\n\n'),
    html: page(words.subject, [
      paragraph(`Hello ${fullName},`),
      paragraph(words.before),
      `<p style="margin:24px 0;font:700 32px/1.2 ui-monospace,monospace;letter-spacing:6px">${escapeHtml(code)}</p>`,
      paragraph(lifetime),
      `<p style="margin:0;color:#5b6470">${escapeHtml(words.after)}</p>`,
    ]),
  };
}
