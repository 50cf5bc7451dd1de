export {
  type BillingMail,
  creditMail,
  disputeLostMail,
  disputeOpenedMail,
  disputeWonMail,
  paymentFailedMail,
  paymentWaitsMail,
  receiptMail,
  refundMail,
  refundReversedMail,
} from './billing-templates.ts';
export type { Mail } from './mail.ts';
export { endedBudgets } from './mail-budget.store.ts';
export { countCode, countInvitation, requireCodeBudget } from './mail-budget.ts';
export { createMailQueue, type MailQueue, mailJob } from './mail-queue.ts';
export { type Notice, noticeMail } from './notice-templates.ts';
export { createFolderSender, createSmtpSender } from './senders.ts';
export { guessesMail, invitationMail, passwordResetMail, verificationMail } from './templates.ts';
