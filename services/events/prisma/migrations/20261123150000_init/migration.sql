-- CreateEnum
CREATE TYPE "QuarantineReason" AS ENUM ('future', 'too_long', 'too_old');

-- Every table and unique key holds the account, so that accounts can be spread over machines. The partitions of ids that
-- no other partition takes are the default ones.

-- CreateTable
CREATE TABLE "visits" (
    "account_id" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "entered_at" TIMESTAMPTZ(3),
    "left_at" TIMESTAMPTZ(3),
    "zones" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "clock_offset_ms" BIGINT NOT NULL,
    "quarantined" "QuarantineReason",
    "item" JSONB,

    CONSTRAINT "visits_pkey" PRIMARY KEY ("account_id","event_id")
) PARTITION BY RANGE ("event_id");
CREATE TABLE "visits_default" PARTITION OF "visits" DEFAULT;

-- CreateTable
CREATE TABLE "plays" (
    "account_id" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "zone_id" TEXT,
    "screen_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "campaign_ad_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "completed" BOOLEAN NOT NULL,
    "holdout" BOOLEAN NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "clock_offset_ms" BIGINT NOT NULL,
    "quarantined" "QuarantineReason",
    "item" JSONB,

    CONSTRAINT "plays_pkey" PRIMARY KEY ("account_id","event_id")
) PARTITION BY RANGE ("event_id");
CREATE TABLE "plays_default" PARTITION OF "plays" DEFAULT;

-- CreateTable
CREATE TABLE "dirty_hours" (
    "account_id" TEXT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "location_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "marked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dirty_hours_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "known_locations" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "gone" BOOLEAN NOT NULL DEFAULT false,
    "aggregate_version" INTEGER NOT NULL,

    CONSTRAINT "known_locations_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "known_zones" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "gone" BOOLEAN NOT NULL DEFAULT false,
    "aggregate_version" INTEGER NOT NULL,

    CONSTRAINT "known_zones_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "known_screens" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "zone_id" TEXT NOT NULL,
    "gone" BOOLEAN NOT NULL DEFAULT false,
    "aggregate_version" INTEGER NOT NULL,

    CONSTRAINT "known_screens_pkey" PRIMARY KEY ("account_id","id")
);

-- CreateTable
CREATE TABLE "device_locations" (
    "account_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,

    CONSTRAINT "device_locations_pkey" PRIMARY KEY ("account_id","device_id","location_id")
);

-- CreateTable
CREATE TABLE "known_versions" (
    "account_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "holdout_percent" INTEGER NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_versions_pkey" PRIMARY KEY ("account_id","campaign_id","version")
);

-- CreateTable
CREATE TABLE "known_campaign_ads" (
    "account_id" TEXT NOT NULL,
    "campaign_ad_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,

    CONSTRAINT "known_campaign_ads_pkey" PRIMARY KEY ("account_id","campaign_ad_id")
);

-- CreateIndex
CREATE INDEX "visits_account_id_location_id_entered_at_idx" ON "visits"("account_id", "location_id", "entered_at");

-- CreateIndex
CREATE INDEX "plays_account_id_location_id_started_at_idx" ON "plays"("account_id", "location_id", "started_at");

-- What is in no figure has no times in them.
ALTER TABLE "visits" ADD CONSTRAINT "visits_times" CHECK (
  ("quarantined" IS NULL) = ("entered_at" IS NOT NULL AND "left_at" IS NOT NULL AND "entered_at" < "left_at")
);
ALTER TABLE "plays" ADD CONSTRAINT "plays_times" CHECK (
  ("quarantined" IS NULL) = ("started_at" IS NOT NULL AND "ended_at" IS NOT NULL AND "started_at" < "ended_at")
);
CREATE INDEX "visits_quarantined_idx" ON "visits"("account_id", "received_at", "event_id") WHERE "quarantined" IS NOT NULL;
CREATE INDEX "plays_quarantined_idx" ON "plays"("account_id", "received_at", "event_id") WHERE "quarantined" IS NOT NULL;
