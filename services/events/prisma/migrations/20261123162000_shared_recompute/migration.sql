-- A mark that nobody waits for, as a rebuild makes them, has no time: the figures are not behind because of it.
ALTER TABLE "dirty_hours" ALTER COLUMN "marked_at" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "dirty_hours_account_id_location_id_hour_idx" ON "dirty_hours"("account_id", "location_id", "hour");

-- Since when the figures of a location are behind, however many marks a rebuild has made.
CREATE INDEX "dirty_hours_behind" ON "dirty_hours"("account_id", "location_id", "marked_at") WHERE "marked_at" IS NOT NULL;
