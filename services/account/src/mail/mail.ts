/** A message to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Where messages leave the platform. */
export interface MailSender {
  send(mail: Mail): Promise<void>;
}
