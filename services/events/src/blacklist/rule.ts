/**
 * Whether the row `entry` of the blacklist leaves the row `visit` out of every figure, as SQL. It is the only place that
 * says so: it decides which visits are counted, and which are counted anew after a change of the blacklist.
 */
export const leavesOut = `
  entry.account_id = visit.account_id AND entry.visitor_key = visit.visitor_key
  AND (entry.location_id IS NULL OR entry.location_id = visit.location_id)
  AND (entry.valid_from IS NULL OR visit.entered_at >= entry.valid_from)
  AND (entry.valid_until IS NULL OR visit.entered_at < entry.valid_until)`;
