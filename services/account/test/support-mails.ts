import { eventually, type TestService } from '@attribution/testing';
import { expect } from '@jest/globals';
import PostalMime, { type Email } from 'postal-mime';
import { count } from './support.ts';

/** The messages to an address, oldest first, once no message waits to be sent. */
export async function messagesTo(service: TestService, email: string): Promise<Email[]> {
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  return Promise.all((await service.mailbox.messagesTo(email)).map((raw) => PostalMime.parse(raw)));
}
