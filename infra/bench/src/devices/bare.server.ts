/**
 * The floor for heartbeats: `node:https` that asks for certificates of clients and lets TLS judge them, reads the body, and
 * answers from one prepared read by the certificate's fingerprint. It knows nothing of revocation, tokens, metrics or logs.
 */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import pg from 'pg';
import { endOnSignal, given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const pool = new pg.Pool({ connectionString: given('DATABASE_URL'), max: 10 });
const read = {
  name: 'heartbeat',
  text: `SELECT d.status, d.desired_version, d.manifest_version, d.heartbeat_interval, c.renew_after
    FROM device_certificates c JOIN devices d ON d.id = c.device_id WHERE c.fingerprint = $1`,
};
/** Found out once for each connection. */
const fingerprints = new WeakMap<object, string | undefined>();

const tls = { cert: given('TLS_CERTIFICATE'), key: given('TLS_KEY'), ca: given('CA'), requestCert: true };
const server = createServer({ ...tls, keepAliveTimeout: 65_000 }, async (req, res) => {
  JSON.parse(await text(req));
  const { rows } = await pool.query({ ...read, values: [fingerprints.get(req.socket)] });
  const { renew_after, heartbeat_interval: heartbeat_interval_seconds, ...state } = rows[0];
  const answer = { server_time: new Date().toISOString(), ...state, renew_after, heartbeat_interval_seconds };
  res.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
});
server.on('secureConnection', (socket: TLSSocket) => {
  const shown = socket.getPeerX509Certificate()?.fingerprint256;
  fingerprints.set(socket, shown?.replaceAll(':', '').toLowerCase());
});
server.listen(0, '127.0.0.1', () => announce(`https://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
