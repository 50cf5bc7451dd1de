/** The statements of the bare handlers, named so that Postgres plans each once a connection. */

const location = `id, group_id, name, timezone, address, latitude, longitude, venue_type, opening_hours, status,
  created_at, updated_at`;

export const getLocation = {
  name: 'get_location',
  text: `SELECT ${location} FROM locations WHERE account_id = $1 AND id = $2`,
};

export const listLocations = {
  name: 'list_locations',
  text: `SELECT ${location} FROM locations WHERE account_id = $1 ORDER BY id LIMIT $2`,
};

const campaign = `id, account_id, group_id, name, description, to_char(start_date, 'YYYY-MM-DD') AS start_date,
  to_char(end_date, 'YYYY-MM-DD') AS end_date, priority, metadata, status, current_version, created_at, updated_at,
  screen_count, estimated_locations, media_asset_id, poster_url, scored_signature`;

export const listCampaigns = {
  name: 'list_campaigns',
  text: `SELECT ${campaign}, jsonb_build_object('product', brief -> 'product') AS brief, ads.*
    FROM campaigns, LATERAL (
      SELECT count(*)::int AS total_ad_count, count(score)::int AS scored_ad_count, avg(score) AS campaign_score
      FROM campaign_ads WHERE campaign_id = campaigns.id) AS ads
    WHERE account_id = $1 ORDER BY campaigns.id DESC LIMIT $2`,
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

/** The right to set up is the token's; that the group is there, and stays, is the database's. */
export const lockGroup = {
  name: 'lock_group',
  text: 'SELECT 1 FROM groups WHERE id = $1 AND account_id = $2 FOR KEY SHARE',
};

export const insertLocation = {
  name: 'insert_location',
  text: `INSERT INTO locations (id, account_id, group_id, name, timezone, address, venue_type, opening_hours, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
};

export const insertCampaign = {
  name: 'insert_campaign',
  text: `INSERT INTO campaigns (id, account_id, created_by, name, description, brief, start_date, end_date, priority,
      metadata, target, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '{}', $10, $11, $11)`,
};

/** With the lock that makes the order of sequences the order of commits (ADR 0005). */
export const appendEvent = {
  name: 'append_event',
  text: `WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended($2 || ' ' || $4, 0)))
    INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data)
    SELECT $1, $2, $3, 1, $4, $4, $5, $6 FROM locked`,
};
