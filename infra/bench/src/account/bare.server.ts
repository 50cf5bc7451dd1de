/**
 * The floor for key exchange and token holds: plain Express 5 with the least possible work. An exchange reads the key,
 * hashes the secret and signs a token; a hold locks the row of its account in a transaction.
 */
import { createHash, createPrivateKey } from 'node:crypto';
import express from 'express';
import jwt from 'jsonwebtoken';
import pg from 'pg';
import { given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const pool = new pg.Pool({ connectionString: given('DATABASE_URL'), max: 10 });
const { keys } = JSON.parse(given('TOKEN_PRIVATE_KEYS')) as { keys: [Record<string, string>] };
const key = createPrivateKey({ key: keys[0], format: 'jwk' });
const app = express();
app.use(express.json());

const findKey = {
  name: 'find_key',
  text: `SELECT k.id, k.account_id, k.secret_hash, k.role, k.readonly, a.status, a.account_type_key
    FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.access_key_id = $1`,
};

app.post('/v2/auth/api-token', async (req, res) => {
  const { rows } = await pool.query({ ...findKey, values: [req.headers['x-access-key-id']] });
  const secret = String(req.headers['x-access-key-secret']);
  if (createHash('sha256').update(secret).digest('hex') !== rows[0]?.secret_hash) return res.sendStatus(401);
  const claims = { sub: rows[0].id, account: rows[0].account_id, role: rows[0].role };
  return res.json({ access_token: jwt.sign(claims, key, { algorithm: 'ES256', expiresIn: 900 }), expires_in: 900 });
});

const lockBalance = { name: 'lock_balance', text: 'SELECT posted FROM balances WHERE account_id = $1 FOR UPDATE' };

app.post('/internal/v2/token-holds', async (req, res) => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query({ ...lockBalance, values: [req.body.account_id] });
    await client.query('COMMIT');
    res.status(201).json(rows[0]);
  } finally {
    client.release();
  }
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
