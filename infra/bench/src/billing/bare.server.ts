/** The floor for webhook intake: plain Express 5 and an insert of the same body. */
import express from 'express';
import pg from 'pg';
import { given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const pool = new pg.Pool({ connectionString: given('DATABASE_URL'), max: 10 });
await pool.query('CREATE TABLE IF NOT EXISTS bare_events (id bigserial PRIMARY KEY, body jsonb NOT NULL)');
const insert = { name: 'insert', text: 'INSERT INTO bare_events (body) VALUES ($1)' };
const app = express();

app.post('/webhooks/stripe', express.text({ type: () => true }), async (req, res) => {
  await pool.query({ ...insert, values: [req.body] });
  res.sendStatus(200);
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
