-- A few plays are held. Their list would search all others for them.
CREATE INDEX "plays_held_idx" ON "plays"("account_id", "location_id", "started_at") WHERE "holdout";
