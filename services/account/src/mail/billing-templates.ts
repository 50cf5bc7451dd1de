import { escapeHtml, oneLine, page, paragraph } from './html.ts';
import type { Mail } from './mail.ts';

/** The content of a message to a user with billing access. */
export interface BillingMail {
  readonly to: string;
  readonly fullName: string;
  readonly accountName: string;
  /** What was purchased. */
  readonly description: string;
  readonly amountCents: number;
  /** ISO 4217, in any letter case. */
  readonly currency: string;
  /** The number of tokens bought, taken back or returned; 0 means that the message does not mention tokens. */
  readonly tokens: number;
}

/** `debt` is the number of the tokens that paid what a lost dispute left owing. */
export const receiptMail = (mail: BillingMail & { receiptUrl: string | null; debt: number }): Mail =>
  billingMail(mail, {
    subject: `Your receipt: ${amountOf(mail)}`,
    before: 'Thank you. We have received your payment:',
    tokens: 'Tokens',
    ...linkTo(mail.receiptUrl),
    after:
      mail.debt > 0
        ? `${mail.debt.toLocaleString('en-US')} of these tokens pay for tokens of an earlier payment, which its bank took back after they were spent.`
        : 'You need not do anything more.',
  });

export const paymentFailedMail = (mail: BillingMail & { reason: string | null }): Mail =>
  billingMail(mail, {
    subject: `Your payment of ${amountOf(mail)} failed`,
    before: 'We could not collect this payment:',
    tokens: 'Tokens',
    ...(mail.reason !== null && { reason: mail.reason }),
    after: 'Nothing was charged. Try again, or with another payment method, on the billing page.',
  });

export const paymentWaitsMail = (mail: BillingMail & { pageUrl: string | null; expiresAt: string | null }): Mail =>
  billingMail(mail, {
    subject: `Please confirm your payment of ${amountOf(mail)}`,
    before: 'Your bank asks whether this payment is yours:',
    tokens: 'Tokens',
    linkLabel: 'Confirm it here',
    ...linkTo(mail.pageUrl),
    after:
      mail.expiresAt === null
        ? 'Until then your plan stays as it is paid for.'
        : `Until then your plan stays as it is. After ${mail.expiresAt.slice(0, 16).replace('T', ' ')} UTC the change lapses.`,
  });

export const refundMail = (mail: BillingMail): Mail =>
  billingMail(mail, {
    subject: `Your refund: ${amountOf(mail)}`,
    before: 'We have paid back:',
    tokens: 'Tokens taken back',
    after: 'It may take your bank some days to show it.',
  });

export const creditMail = (mail: BillingMail): Mail =>
  billingMail(mail, {
    subject: `Your refund: ${amountOf(mail)} of store credit`,
    before: 'We have given back, as store credit:',
    tokens: 'Tokens taken back',
    after: 'Your next invoices use it before they charge a card.',
  });

export const refundReversedMail = (mail: BillingMail): Mail =>
  billingMail(mail, {
    subject: `Your refund of ${amountOf(mail)} came back`,
    before: 'Your bank has sent this refund back to us:',
    tokens: 'Tokens given back',
    after: 'Please write to us, so that the money can reach you another way.',
  });

export const disputeOpenedMail = (mail: BillingMail & { reason: string }): Mail =>
  billingMail(mail, {
    subject: `Your bank disputes a payment of ${amountOf(mail)}`,
    before: 'A bank has asked for this payment back:',
    tokens: 'Tokens held',
    reason: mail.reason.replaceAll('_', ' '),
    after: 'Until that is decided the payment cannot be refunded. If it is a mistake, please tell your bank.',
  });

export const disputeWonMail = (mail: BillingMail): Mail =>
  billingMail(mail, {
    subject: `The dispute of ${amountOf(mail)} is settled`,
    before: 'The bank lets this payment stand:',
    tokens: 'Tokens released',
    after: 'You need not do anything more.',
  });

export const disputeLostMail = (mail: BillingMail & { debt: number }): Mail =>
  billingMail(mail, {
    subject: `A payment of ${amountOf(mail)} was taken back`,
    before: 'The bank has taken this payment back:',
    tokens: 'Tokens taken back',
    after:
      mail.debt > 0
        ? `${mail.debt.toLocaleString('en-US')} of its tokens were spent already. Your next purchase pays for them first.`
        : 'You need not do anything more.',
  });

interface Words {
  readonly subject: string;
  readonly before: string;
  /** The label of the number of tokens. */
  readonly tokens: string;
  readonly reason?: string;
  readonly link?: string;
  /** What the link is; a receipt by default. */
  readonly linkLabel?: string;
  readonly after: string;
}

function billingMail(mail: BillingMail, words: Words): Mail {
  const { to, tokens } = mail;
  const { subject, before, reason, link, linkLabel = 'Receipt', after } = words;
  const greeting = `Hello ${oneLine(mail.fullName)},`;
  const facts = [
    oneLine(mail.description),
    `Account: ${oneLine(mail.accountName)}`,
    `Amount: ${amountOf(mail)}`,
    ...(tokens > 0 ? [`${words.tokens}: ${tokens.toLocaleString('en-US')}`] : []),
    ...(reason === undefined ? [] : [`Reason: ${oneLine(reason)}`]),
  ];
  return {
    to,
    subject,
    text: [greeting, before, facts.join('\n'), ...(link ? [`${linkLabel}: ${link}`] : []), after, ''].join('\n\n'),
    html: page(subject, [
      paragraph(greeting),
      paragraph(before),
      `<p style="margin:24px 0">${facts.map(escapeHtml).join('<br>')}</p>`,
      ...(link
        ? [`<p style="margin:24px 0">${linkLabel}: <a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p>`]
        : []),
      `<p style="margin:0;color:#5b6470">${escapeHtml(after)}</p>`,
    ]),
  };
}

/** The amount for display: `$79.00`, `¥7,900`. `amountCents` is in the smallest unit of the currency. */
function amountOf({ amountCents, currency }: BillingMail): string {
  const code = currency.toUpperCase();
  // An invalid currency code is shown as it is, because the message must still be sent.
  if (!/^[A-Z]{3}$/.test(code)) return `${(amountCents / 100).toFixed(2)} ${oneLine(code)}`;
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: code });
  return format.format(amountCents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** A URL that a mail program could execute, or could not open, is left out. */
function linkTo(url: string | null): { link?: string } {
  const parsed = url === null ? null : URL.parse(url);
  return parsed && ['http:', 'https:'].includes(parsed.protocol) ? { link: parsed.href } : {};
}
