import { serviceNames } from '@attribution/contracts';
import type { Express } from 'express';
import { accountOf, pool } from './bare-database.ts';
import * as sql from './bare-statements.ts';

const everyService = Object.fromEntries(serviceNames.map((name) => [name, 'w']));
/** The permissions of an owner, the only caller here. */
const everything = {
  invite_users: true,
  manage_api_keys: true,
  manage_billing: true,
  manage_groups: true,
  set_up_estate: true,
  edit_campaigns: true,
  publish_campaigns: true,
};

/** Account's endpoints of the mix. */
export function addAccount(app: Express): void {
  app.get('/v2/plans', async (_req, res) => {
    const { rows } = await pool.query(sql.listPlans);
    res.json(rows);
  });

  app.get('/v2/users/me/permissions', async (req, res) => {
    const { rows } = await pool.query({ ...sql.getMembership, values: [req.headers['x-user'], accountOf(req)] });
    const [{ role, group_scope, grants, status, account_status } = {} as Record<string, unknown>] = rows;
    if (status !== 'active' || account_status === 'closed') res.sendStatus(401);
    else res.json({ role, group_scope, groups: grants, services: everyService, can: everything });
  });

  app.get('/v2/accounts/:id/ledger', async (req, res) => {
    const limit = Number(req.query.limit);
    const { rows } = await pool.query({ ...sql.listEntries, values: [accountOf(req), limit + 1] });
    const entries = rows.slice(0, limit).map(({ seq, amount, balance_after, ...entry }) => ({
      ...entry,
      seq: Number(seq),
      amount: Number(amount),
      balance_after: Number(balance_after),
    }));
    res.json({ entries, next_cursor: rows.length > limit ? rows[limit - 1].seq : null });
  });

  app.get('/v2/accounts/:id/balance', async (req, res) => {
    const { rows } = await pool.query({ ...sql.getBalance, values: [accountOf(req)] });
    if (!rows[0]) return void res.sendStatus(404);
    const [posted, held] = [Number(rows[0].posted), Number(rows[0].held)];
    const grants = rows
      .filter(({ entry_id }) => entry_id !== null)
      .map(({ entry_id, amount, remaining, priority, expires_at, created_at }) => ({
        id: entry_id,
        amount: Number(amount),
        remaining: Number(remaining),
        priority,
        expires_at,
        created_at,
      }));
    res.json({ account_id: req.params.id, posted, held, available: posted - held, grants });
  });
}
