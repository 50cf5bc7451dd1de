export {
  type BillingMail,
  paymentFailedMail,
  receiptMail,
  refundMail,
  refundReversedMail,
} from './billing-templates.ts';
export type { Mail } from './mail.ts';
export { createMailQueue, type MailQueue, mailJob } from './mail-queue.ts';
export { createFolderSender, createSmtpSender } from './senders.ts';
export { invitationMail, passwordResetMail, verificationMail } from './templates.ts';
