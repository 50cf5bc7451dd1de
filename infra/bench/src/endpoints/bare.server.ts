/**
 * What the endpoints are measured beside: Express 5 as it comes, and the statements that the endpoint needs for its
 * promise, written by hand and prepared by name. No token, no check of the input, no metrics. The caller's account
 * stands in a header.
 */
import { newId, newUuid } from '@attribution/contracts';
import express, { type Request } from 'express';
import pg from 'pg';
import { announce } from '../server.ts';
import * as sql from './bare-statements.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = express();
app.use(express.json());

const accountOf = (req: Request) => req.headers['x-account'];

app.get('/v2/locations/:id', async (req, res) => {
  const { rows } = await pool.query({ ...sql.getLocation, values: [accountOf(req), req.params.id] });
  if (rows[0]) res.json(rows[0]);
  else res.sendStatus(404);
});

app.get('/v2/locations', async (req, res) => {
  const limit = Number(req.query.limit);
  const { rows } = await pool.query({ ...sql.listLocations, values: [accountOf(req), limit + 1] });
  res.json({ entries: rows.slice(0, limit), next_cursor: rows.length > limit ? rows[limit - 1].id : null });
});

app.get('/v2/campaigns', async (req, res) => {
  const limit = Number(req.query.limit);
  const { rows } = await pool.query({ ...sql.listCampaigns, values: [accountOf(req), limit + 1] });
  res.json({ data: rows.slice(0, limit), next_cursor: rows.length > limit ? rows[limit - 1].id : null });
});

app.get('/v2/plans', async (_req, res) => {
  const { rows } = await pool.query(sql.listPlans);
  res.json(rows);
});

/** All of the work or nothing, as anyone writes it over pg. */
async function transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

interface BareEvent {
  readonly topic: string;
  readonly type: string;
  readonly account: string;
  readonly now: string;
  readonly data: object;
}

const append = (client: pg.PoolClient, { topic, type, account, now, data }: BareEvent) =>
  client.query({ ...sql.appendEvent, values: [newUuid(), topic, type, account, now, JSON.stringify(data)] });

app.post('/v2/groups', async (req, res) => {
  const account = String(accountOf(req));
  const { name, description = null } = req.body;
  const now = new Date().toISOString();
  const group = { id: newId('group'), name, description, created_at: now, updated_at: now };
  await transaction(async (client) => {
    await client.query({ ...sql.insertGroup, values: [group.id, account, name, description, now] });
    const data = { account_id: account, group };
    await append(client, { topic: 'organization.events', type: 'group.created', account, now, data });
  });
  res.status(201).json(group);
});

app.post('/v2/locations', async (req, res) => {
  const account = String(accountOf(req));
  const { group_id, name, timezone, address = null, venue_type = null, opening_hours = null } = req.body;
  const now = new Date().toISOString();
  const id = newId('location');
  const fields = { group_id, name, timezone, address, latitude: null, longitude: null, venue_type, opening_hours };
  const location = { id, ...fields, status: 'active', created_at: now, updated_at: now };
  await transaction(async (client) => {
    const group = await client.query({ ...sql.lockGroup, values: [group_id, account] });
    if (group.rowCount === 0) throw new Error('No such group');
    const hours = opening_hours && JSON.stringify(opening_hours);
    const values = [id, account, group_id, name, timezone, address, venue_type, hours, now];
    await client.query({ ...sql.insertLocation, values });
    const data = { account_id: account, location };
    await append(client, { topic: 'organization.events', type: 'location.created', account, now, data });
  });
  res.status(201).json(location);
});

const nothing = { group_ids: [], location_ids: [], tags: [] };
const unplaced = {
  group_id: null,
  metadata: {},
  status: 'draft',
  current_version: null,
  total_ad_count: 0,
  screen_count: 0,
  estimated_locations: 0,
  scored_ad_count: 0,
  campaign_score: null,
  media_asset_id: null,
  poster_url: null,
  scored_signature: null,
};
const emptyTarget = { include: nothing, exclude: nothing, holdout_percent: 0 };

app.post('/v2/campaigns', async (req, res) => {
  const account = String(accountOf(req));
  const { name, description = null, brief, start_date = null, end_date = null, priority = 0 } = req.body;
  const now = new Date().toISOString();
  const id = newId('campaign');
  const author = newId('user');
  await transaction(async (client) => {
    const texts = { brief: JSON.stringify(brief), target: JSON.stringify(emptyTarget) };
    const dates = [start_date, end_date];
    const values = [id, account, author, name, description, texts.brief, ...dates, priority, texts.target, now];
    await client.query({ ...sql.insertCampaign, values });
    const data = { campaign_id: id, account_id: account, group_id: null, name, created_by: author };
    await append(client, { topic: 'campaign.events', type: 'campaign.created', account, now, data });
  });
  const given = { name, description, brief, start_date, end_date, priority };
  res.status(201).json({ id, account_id: account, ...given, ...unplaced, created_at: now, updated_at: now });
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
