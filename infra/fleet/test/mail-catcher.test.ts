import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { type MailCatcher, startMailCatcher } from '../src/mail-catcher.ts';

let directory: string;
let catcher: MailCatcher;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mail-'));
  catcher = await startMailCatcher(directory);
});
afterEach(async () => {
  await catcher.stop();
  await rm(directory, { recursive: true });
});

const send = (to: string[], raw: string) =>
  createTransport({ url: `smtp://127.0.0.1:${catcher.port}` }).sendMail({
    envelope: { from: 'me@example.com', to },
    raw,
  });

test('a message becomes a complete file for each recipient, with Unix line ends', async () => {
  await send(['ada@example.com', 'a/b@example.com'], 'Subject: Código\r\n\r\n123456\r\n.\r\n');
  const names = (await readdir(directory)).toSorted();
  expect(names).toHaveLength(2);
  expect(names[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d.-]+Z-1-ada@example[.]com[.]eml$/);
  expect(names[1]).toMatch(/-2-a_b@example[.]com[.]eml$/);
  expect(await readFile(join(directory, names[0] ?? ''), 'utf8')).toBe('Subject: Código\n\n123456\n.\n');
});

test('when the folder is missing the client gets an error, so that it sends the message again', async () => {
  await rm(directory, { recursive: true });
  await expect(send(['ada@example.com'], 'Subject: x\r\n\r\nx\r\n')).rejects.toThrow('ENOENT');
  await startMailCatcher(directory).then((another) => another.stop());
  await send(['ada@example.com'], 'Subject: x\r\n\r\nx\r\n');
  expect(await readdir(directory)).toHaveLength(1);
});
