/** The floor for kept answers: plain Express 5 and a read of the same row. */
import express from 'express';
import pg from 'pg';
import { given } from '../gateway/environment.ts';
import { announce } from '../server.ts';

const pool = new pg.Pool({ connectionString: given('DATABASE_URL'), max: 10 });
const select = { name: 'kept', text: 'SELECT answer, retrieved_at FROM upstream_answers WHERE slot = $1' };
const app = express();

app.get('/v2/utilities/weather', async (_req, res) => {
  const { rows } = await pool.query({ ...select, values: [1] });
  if (rows[0]) res.json({ weather: rows[0].answer, retrieved_at: rows[0].retrieved_at });
  else res.sendStatus(404);
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
