-- CreateEnum
CREATE TYPE "ZoneKind" AS ENUM ('entrance', 'aisle', 'checkout', 'window', 'other');

-- CreateEnum
CREATE TYPE "Orientation" AS ENUM ('landscape', 'portrait', 'square');

-- DropIndex
DROP INDEX "locations_account_id_group_id_id_idx";

-- AlterTable
ALTER TABLE "groups" ADD COLUMN     "aggregate_version" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "external_id" TEXT;

-- AlterTable
ALTER TABLE "locations" ADD COLUMN     "aggregate_version" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "external_id" TEXT,
ADD COLUMN     "venue_taxonomy" TEXT;

-- CreateTable
CREATE TABLE "projection_tombstones" (
    "id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "projection_tombstones_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "projection_snapshots" (
    "name" TEXT NOT NULL,
    "cursor" TEXT,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "projection_snapshots_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "zones" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "external_id" TEXT,
    "name" TEXT NOT NULL,
    "kind" "ZoneKind" NOT NULL,
    "aggregate_version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "zones_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "screens" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "zone_id" TEXT NOT NULL,
    "external_id" TEXT,
    "name" TEXT NOT NULL,
    "tags" TEXT[],
    "width_px" INTEGER NOT NULL,
    "height_px" INTEGER NOT NULL,
    "orientation" "Orientation" NOT NULL,
    "accepted_formats" TEXT[],
    "audio" BOOLEAN NOT NULL,
    "aggregate_version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "screens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "installations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "external_id" TEXT,
    "name" TEXT,
    "live" BOOLEAN NOT NULL,
    "installed_at" TIMESTAMPTZ(3) NOT NULL,
    "removed_at" TIMESTAMPTZ(3),
    "aggregate_version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "installation_outputs" (
    "installation_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "output" TEXT NOT NULL,
    "screen_id" TEXT NOT NULL,
    "live" BOOLEAN NOT NULL,

    CONSTRAINT "installation_outputs_pkey" PRIMARY KEY ("installation_id","output")
);

-- CreateTable
CREATE TABLE "cameras" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "zone_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "external_id" TEXT,
    "name" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "cameras_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "estate_purges" (
    "account_id" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "estate_purges_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "projection_tombstones_deleted_at_idx" ON "projection_tombstones"("deleted_at");

-- CreateIndex
CREATE INDEX "zones_account_id_id_idx" ON "zones"("account_id", "id");

-- CreateIndex
CREATE INDEX "zones_account_id_group_id_id_idx" ON "zones"("account_id", "group_id", "id");

-- CreateIndex
CREATE INDEX "zones_location_id_id_idx" ON "zones"("location_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "zones_account_id_group_id_location_id_id_key" ON "zones"("account_id", "group_id", "location_id", "id");

-- CreateIndex
CREATE INDEX "screens_account_id_id_idx" ON "screens"("account_id", "id");

-- CreateIndex
CREATE INDEX "screens_account_id_group_id_id_idx" ON "screens"("account_id", "group_id", "id");

-- CreateIndex
CREATE INDEX "screens_zone_id_id_idx" ON "screens"("zone_id", "id");

-- CreateIndex
CREATE INDEX "screens_tags_idx" ON "screens" USING GIN ("tags");

-- CreateIndex
CREATE UNIQUE INDEX "screens_location_id_id_key" ON "screens"("location_id", "id");

-- CreateIndex
CREATE INDEX "installations_account_id_id_idx" ON "installations"("account_id", "id");

-- CreateIndex
CREATE INDEX "installations_account_id_group_id_id_idx" ON "installations"("account_id", "group_id", "id");

-- CreateIndex
CREATE INDEX "installations_account_id_device_id_idx" ON "installations"("account_id", "device_id");

-- CreateIndex
CREATE UNIQUE INDEX "installations_location_id_id_live_key" ON "installations"("location_id", "id", "live");

-- CreateIndex
CREATE INDEX "installation_outputs_screen_id_idx" ON "installation_outputs"("screen_id");

-- CreateIndex
CREATE UNIQUE INDEX "installation_outputs_installation_id_screen_id_key" ON "installation_outputs"("installation_id", "screen_id");

-- CreateIndex
CREATE INDEX "cameras_account_id_id_idx" ON "cameras"("account_id", "id");

-- CreateIndex
CREATE INDEX "cameras_account_id_group_id_id_idx" ON "cameras"("account_id", "group_id", "id");

-- CreateIndex
CREATE INDEX "cameras_location_id_id_idx" ON "cameras"("location_id", "id");

-- CreateIndex
CREATE INDEX "cameras_zone_id_id_idx" ON "cameras"("zone_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "locations_account_id_group_id_id_key" ON "locations"("account_id", "group_id", "id");

-- AddForeignKey
ALTER TABLE "zones" ADD CONSTRAINT "zones_account_id_group_id_location_id_fkey" FOREIGN KEY ("account_id", "group_id", "location_id") REFERENCES "locations"("account_id", "group_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "screens" ADD CONSTRAINT "screens_account_id_group_id_location_id_zone_id_fkey" FOREIGN KEY ("account_id", "group_id", "location_id", "zone_id") REFERENCES "zones"("account_id", "group_id", "location_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "installations" ADD CONSTRAINT "installations_account_id_group_id_location_id_fkey" FOREIGN KEY ("account_id", "group_id", "location_id") REFERENCES "locations"("account_id", "group_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "installation_outputs" ADD CONSTRAINT "installation_outputs_location_id_installation_id_live_fkey" FOREIGN KEY ("location_id", "installation_id", "live") REFERENCES "installations"("location_id", "id", "live") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "installation_outputs" ADD CONSTRAINT "installation_outputs_location_id_screen_id_fkey" FOREIGN KEY ("location_id", "screen_id") REFERENCES "screens"("location_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "cameras" ADD CONSTRAINT "cameras_account_id_group_id_location_id_zone_id_fkey" FOREIGN KEY ("account_id", "group_id", "location_id", "zone_id") REFERENCES "zones"("account_id", "group_id", "location_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What a schema file cannot say.

-- An external id is one thing's of its kind. Partial, so that no key's check takes it for its own: a plan made while the
-- tables are small would look through all of an account.
CREATE UNIQUE INDEX "groups_account_id_external_id_key" ON "groups"("account_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX "locations_account_id_external_id_key" ON "locations"("account_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX "zones_account_id_external_id_key" ON "zones"("account_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX "screens_account_id_external_id_key" ON "screens"("account_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX "installations_account_id_external_id_key" ON "installations"("account_id", "external_id") WHERE "external_id" IS NOT NULL;
CREATE UNIQUE INDEX "cameras_account_id_external_id_key" ON "cameras"("account_id", "external_id") WHERE "external_id" IS NOT NULL;

-- A device, and a screen, is in one live installation at most.
CREATE UNIQUE INDEX "installations_live_device" ON "installations"("account_id", "device_id") WHERE "live";
CREATE UNIQUE INDEX "installation_outputs_live_screen" ON "installation_outputs"("screen_id") WHERE "live";

-- A point has both coordinates.
UPDATE "locations" SET "latitude" = NULL, "longitude" = NULL WHERE ("latitude" IS NULL) <> ("longitude" IS NULL);

-- Venue types were words of our own; those that the taxonomy has no word for are unknown from now on.
UPDATE "locations" SET "venue_type" = CASE "venue_type"
    WHEN 'grocery' THEN 'retail.grocery'
    WHEN 'convenience' THEN 'retail.convenience_store'
    WHEN 'pharmacy' THEN 'retail.pharmacies'
    WHEN 'fashion' THEN 'retail'
    WHEN 'electronics' THEN 'retail'
    WHEN 'department_store' THEN 'retail'
    WHEN 'mall' THEN 'retail.malls'
    WHEN 'restaurant' THEN 'entertainment.casual_dining'
    WHEN 'bar' THEN 'entertainment.bars'
    WHEN 'gym' THEN 'health_beauty.gyms'
    WHEN 'cinema' THEN 'entertainment.movie_theaters'
    WHEN 'transit' THEN 'transit'
    WHEN 'office' THEN 'office_buildings'
    WHEN 'hotel' THEN 'entertainment.hotels'
  END
  WHERE "venue_type" IS NOT NULL;
UPDATE "locations" SET "venue_taxonomy" = 'openooh-1.1' WHERE "venue_type" IS NOT NULL;

ALTER TABLE "locations"
  ADD CONSTRAINT "locations_point_check" CHECK (("latitude" IS NULL) = ("longitude" IS NULL)),
  ADD CONSTRAINT "locations_venue_check" CHECK (("venue_type" IS NULL) = ("venue_taxonomy" IS NULL));
ALTER TABLE "screens"
  ADD CONSTRAINT "screens_size_check" CHECK ("width_px" > 0 AND "height_px" > 0),
  ALTER COLUMN "tags" SET NOT NULL,
  ALTER COLUMN "accepted_formats" SET NOT NULL;
ALTER TABLE "installations"
  ADD CONSTRAINT "installations_live_check" CHECK ("live" = ("removed_at" IS NULL));
