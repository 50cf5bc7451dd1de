/** A message to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Delivers messages. */
export interface MailSender {
  send(mail: Mail): Promise<void>;
}
