/** The statements of the bare handlers. They have names, so that Postgres plans each once per connection. */

const location = `id, group_id, name, external_id, timezone, address, latitude, longitude, venue_type, venue_taxonomy,
  opening_hours, status, created_at, updated_at`;

export const getLocation = {
  name: 'get_location',
  text: `SELECT ${location} FROM locations WHERE account_id = $1 AND id = $2`,
};

export const listLocations = {
  name: 'list_locations',
  text: `SELECT ${location} FROM locations WHERE account_id = $1 ORDER BY id LIMIT $2`,
};

const campaign = `id, account_id, group_id, name, description, to_char(start_date, 'YYYY-MM-DD') AS start_date,
  to_char(end_date, 'YYYY-MM-DD') AS end_date, priority, metadata, status, current_version, live_version, created_at, updated_at,
  screen_count, 0 AS estimated_locations, media_asset_id, NULL AS poster_url, scored_signature`;

const adsOf = `(SELECT count(*)::int AS total_ad_count, count(score)::int AS scored_ad_count, avg(score) AS campaign_score
  FROM campaign_ads WHERE campaign_id = campaigns.id) AS ads`;

export const listCampaigns = {
  name: 'list_campaigns',
  text: `SELECT ${campaign}, jsonb_build_object('product', brief -> 'product') AS brief, ads.*
    FROM campaigns, LATERAL ${adsOf}
    WHERE account_id = $1 ORDER BY campaigns.id DESC LIMIT $2`,
};

export const getCampaign = {
  name: 'get_campaign',
  text: `SELECT ${campaign}, brief, target, ads.* FROM campaigns, LATERAL ${adsOf} WHERE account_id = $1 AND id = $2`,
};

export const listAds = {
  name: 'list_ads',
  text: `SELECT campaign_ads.id, ad_id, screen_tag, position, score, campaign_ads.created_at, ads.name, media_asset_id,
      duration_ms, fit, NULL AS poster_url
    FROM campaign_ads JOIN ads ON ads.id = ad_id WHERE campaign_id = $1 ORDER BY position, campaign_ads.id`,
};

export const lockCampaign = {
  name: 'lock_campaign',
  text: `${getCampaign.text} FOR UPDATE OF campaigns`,
};

export const updateCampaign = {
  name: 'update_campaign',
  text: `UPDATE campaigns SET name = $2, description = $3, brief = $4, start_date = $5, end_date = $6, priority = $7,
      metadata = $8, updated_at = $9
    WHERE id = $1`,
};

export const getMembership = {
  name: 'get_membership',
  text: `SELECT m.role, m.group_scope, m.services, m.billing, m.status, a.status AS account_status, coalesce((
        SELECT json_agg(json_build_object('group_id', g.group_id, 'role', g.role) ORDER BY g.group_id)
        FROM group_grants AS g WHERE g.user_id = m.user_id AND g.account_id = m.account_id), '[]') AS grants
    FROM memberships AS m JOIN accounts AS a ON a.id = m.account_id WHERE m.user_id = $1 AND m.account_id = $2`,
};

export const listEntries = {
  name: 'list_entries',
  text: `SELECT id, account_id, seq, kind, amount, balance_after, description, expires_at, created_at
    FROM ledger_entries WHERE account_id = $1 ORDER BY seq DESC LIMIT $2`,
};

export const getBalance = {
  name: 'get_balance',
  text: `SELECT b.posted, b.held, g.entry_id, g.amount, g.remaining, g.priority, g.expires_at, g.created_at
    FROM balances AS b LEFT JOIN token_grants AS g ON g.account_id = b.account_id AND g.remaining > 0
    WHERE b.account_id = $1 ORDER BY g.priority, g.expires_at NULLS LAST, g.created_at, g.entry_id`,
};

export const listPlans = {
  name: 'list_plans',
  text: `SELECT id, key, name, description, json_build_object('tokens', tokens, 'users', max_users,
      'locations', max_locations, 'screens', max_screens) AS entitlements
    FROM plans ORDER BY position`,
};

export const insertGroup = {
  name: 'insert_group',
  text: `INSERT INTO groups (id, account_id, name, description, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)`,
};

/** Checks that the group exists, and locks it so that it is not deleted. The token has the permission to set up an estate. */
export const lockGroup = {
  name: 'lock_group',
  text: 'SELECT 1 FROM groups WHERE id = $1 AND account_id = $2 FOR KEY SHARE',
};

export const insertLocation = {
  name: 'insert_location',
  text: `INSERT INTO locations (id, account_id, group_id, name, timezone, address, venue_type, venue_taxonomy, opening_hours, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
};

export const insertCampaign = {
  name: 'insert_campaign',
  text: `INSERT INTO campaigns (id, account_id, created_by, name, description, brief, start_date, end_date, priority,
      metadata, target, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '{}', $10, $11, $11)`,
};

/** With the lock that keeps sequence numbers in the order of commits (ADR 5). */
export const appendEvent = {
  name: 'append_event',
  text: `WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended($2 || ' ' || $4, 0)))
    INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data)
    SELECT $1, $2, $3, 1, $4, $4, $5, $6 FROM locked`,
};
