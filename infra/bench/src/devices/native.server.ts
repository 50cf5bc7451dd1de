/**
 * The floor for first contact: what `node:crypto` needs to check the signatures of a request and of the certificate signing
 * request in it, and to sign a certificate, with keys that are read already. `KIND`: of the device's keys.
 */
import { generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endOnSignal, given } from '../gateway/environment.ts';
import { announce } from '../server.ts';
import { newPair } from './factory-keys.ts';

const device = newPair(given('KIND') === 'rsa' ? 'rsa' : 'p-256');
const issuer = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
/** As large as ours are. */
const [body, csr, certificate] = [1_200, 400, 600].map((bytes) => randomBytes(bytes)) as [Buffer, Buffer, Buffer];
const [ofBody, ofCsr] = [body, csr].map((bytes) => sign('sha256', bytes, device.privateKey)) as [Buffer, Buffer];

function once(): void {
  if (!verify('sha256', body, device.publicKey, ofBody) || !verify('sha256', csr, device.publicKey, ofCsr))
    throw new Error('Its own signatures are wrong');
  sign('sha256', certificate, issuer);
}

const server = createServer((req, res) => {
  const end = Number(new URL(req.url ?? '/', 'http://native').searchParams.get('seconds')) * 1_000;
  const began = performance.now();
  let times = 0;
  do once();
  while (++times % 16 !== 0 || performance.now() - began < end);
  res.end(JSON.stringify({ rate: times / ((performance.now() - began) / 1_000) }));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
