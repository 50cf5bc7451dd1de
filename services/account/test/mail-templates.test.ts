import { expect, test } from '@jest/globals';
import { passwordResetMail, verificationMail } from '../src/mail/index.ts';

const mail = { to: 'ada@example.com', fullName: 'Ada', code: '012345', minutes: 10 };

test.each([verificationMail, passwordResetMail])(
  '%p: a name cannot add lines, nor a code before the real one',
  (template) => {
    const { text, html } = template({ ...mail, fullName: 'Ada\r\n\r\n999999\r\n\u2028Call\t0800\u0085now' });
    expect(text.split('\n')[0]).toBe('Hello Ada 999999 Call 0800 now,');
    expect(text.match(/^\d{6}$/gm)).toEqual(['012345']);
    expect(html).toContain('<p style="margin:0 0 16px">Hello Ada 999999 Call 0800 now,</p>');
  },
);

test('a name from before is no link: spaces part what a mail program would link', () => {
  const { text } = verificationMail({ ...mail, fullName: 'https://evil.example/x or www.evil.com J.R. Ada' });
  expect(text.split('\n')[0]).toBe('Hello https: //evil. example/x or www. evil. com J. R. Ada,');
});

test('a code keeps its leading zeros', () => {
  expect(verificationMail(mail).html).toContain('>012345</p>');
});
