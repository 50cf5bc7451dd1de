import { X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { issueServerCertificate, newAuthority, signingOf } from '../src/index.ts';

test('a server certificate is for its hosts, by the authority of devices', () => {
  const { authority } = newAuthority();
  const { certificate } = issueServerCertificate(signingOf(authority), ['localhost', '127.0.0.1']);
  const parsed = new X509Certificate(certificate);
  expect([parsed.checkHost('localhost'), parsed.checkIP('127.0.0.1')]).toEqual(['localhost', '127.0.0.1']);
  expect(parsed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
});
