/**
 * What a bare handler makes of a bootstrap: `node:http`, the same work with keys, one prepared read and one prepared write. It
 * knows nothing of schemas, turns, budgets, events, refusals that take alike, metrics or logs, and encodes no certificate.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readCsr } from '@attribution/certificates';
import pg from 'pg';
import { endOnSignal, given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const pool = new pg.Pool({ connectionString: given('DATABASE_URL'), max: 10 });
const read = {
  name: 'contact',
  text: `SELECT d.id, d.public_key FROM devices d JOIN device_nonces n ON n.device_id = d.id
    WHERE d.serial = $1 AND n.nonce = $2 AND n.expires_at > now()`,
};
const write = {
  name: 'issue',
  text: `WITH spent AS (DELETE FROM device_nonces WHERE nonce = $1 RETURNING device_id),
    counted AS (UPDATE devices d SET certificates_issued = certificates_issued + 1 FROM spent s WHERE d.id = s.device_id
      RETURNING d.id, d.certificates_issued)
    INSERT INTO device_certificates (fingerprint, device_id, serial, not_before, not_after, renew_after, number, used_at)
    SELECT $2, id, left($2, 32), now(), now() + interval '30 days', now() + interval '20 days', certificates_issued, now()
    FROM counted`,
};
const issuer = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
/** As large as ours are. */
const certificate = randomBytes(600);
const pem = randomBytes(800).toString('base64');

const server = createServer(async (req, res) => {
  const bytes = await buffer(req);
  const { serial, nonce, csr } = JSON.parse(bytes.toString()) as Record<'serial' | 'nonce' | 'csr', string>;
  const [device] = (await pool.query<{ id: string; public_key: string }>({ ...read, values: [serial, nonce] })).rows;
  const signature = Buffer.from(String(req.headers['x-device-signature']), 'base64');
  readCsr(csr);
  if (!device || !verify('sha256', bytes, createPublicKey(device.public_key), signature)) {
    res.writeHead(401).end();
    return;
  }
  const signed = sign('sha256', certificate, issuer).toString('base64');
  await pool.query({ ...write, values: [nonce, randomBytes(32).toString('hex')] });
  const answer = { device_id: device.id, certificate: signed + pem, chain: [pem, pem], server_time: new Date() };
  res.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
