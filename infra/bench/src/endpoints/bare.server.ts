/**
 * The floor for endpoints: plain Express 5 with the statements that each endpoint needs, written by hand and prepared by
 * name. It verifies no token, validates no input and has no metrics. Headers give the caller's account and user.
 */

import { venueTaxonomy } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import express from 'express';
import { announce } from '../server.ts';
import { addAccount } from './bare-account.ts';
import { addCampaigns } from './bare-campaigns.ts';
import { accountOf, append, pool, transaction } from './bare-database.ts';
import * as sql from './bare-statements.ts';

const app = express();
app.use(express.json());
addAccount(app);
addCampaigns(app);

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

app.post('/v2/groups', async (req, res) => {
  const account = String(accountOf(req));
  const { name, description = null } = req.body;
  const now = new Date().toISOString();
  const group = { id: newId('group'), name, external_id: null, description, created_at: now, updated_at: now };
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
  const place = { timezone, address, latitude: null, longitude: null };
  const venue = { venue_type, venue_taxonomy: venue_type && venueTaxonomy };
  const fields = { group_id, name, external_id: null, ...place, ...venue, opening_hours };
  const location = { id, ...fields, status: 'active', created_at: now, updated_at: now };
  await transaction(async (client) => {
    const group = await client.query({ ...sql.lockGroup, values: [group_id, account] });
    if (group.rowCount === 0) throw new Error('No such group');
    const hours = opening_hours && JSON.stringify(opening_hours);
    const values = [id, account, group_id, name, timezone, address, venue_type, venue.venue_taxonomy, hours, now];
    await client.query({ ...sql.insertLocation, values });
    const data = { account_id: account, location };
    await append(client, { topic: 'organization.events', type: 'location.created', account, now, data });
  });
  res.status(201).json(location);
});

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address && typeof address === 'object') announce(`http://127.0.0.1:${address.port}`);
});
