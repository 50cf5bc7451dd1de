-- CreateEnum
CREATE TYPE "CampaignStatus" AS ENUM ('draft', 'published', 'archived');

-- CreateTable
CREATE TABLE "outbox" (
    "sequence" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "traceparent" TEXT,
    "data" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("sequence")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "processed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer","event_id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "id" BIGSERIAL NOT NULL,
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "envelope" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL,
    "error" TEXT NOT NULL,
    "failed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "replay_requested_at" TIMESTAMPTZ(3),

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "campaigns" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT,
    "created_by" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "brief" JSONB NOT NULL,
    "start_date" DATE,
    "end_date" DATE,
    "priority" INTEGER NOT NULL DEFAULT 0,
    "status" "CampaignStatus" NOT NULL DEFAULT 'draft',
    "current_version" INTEGER,
    "metadata" JSONB NOT NULL,
    "target" JSONB NOT NULL,
    "screen_count" INTEGER NOT NULL DEFAULT 0,
    "estimated_locations" INTEGER NOT NULL DEFAULT 0,
    "media_asset_id" TEXT,
    "poster_url" TEXT,
    "scored_signature" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "campaigns_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "campaign_ads" (
    "id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "ad_id" TEXT NOT NULL,
    "screen_tag" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "score" DOUBLE PRECISION,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "campaign_ads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_groups" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,

    CONSTRAINT "known_groups_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "outbox_event_id_key" ON "outbox"("event_id");

-- CreateIndex
CREATE INDEX "inbox_processed_at_idx" ON "inbox"("processed_at");

-- CreateIndex
CREATE UNIQUE INDEX "dead_letters_consumer_event_id_key" ON "dead_letters"("consumer", "event_id");

-- CreateIndex
CREATE INDEX "campaigns_account_id_id_idx" ON "campaigns"("account_id", "id");

-- CreateIndex
CREATE INDEX "campaigns_account_id_status_id_idx" ON "campaigns"("account_id", "status", "id");

-- CreateIndex
CREATE INDEX "campaigns_account_id_group_id_id_idx" ON "campaigns"("account_id", "group_id", "id");

-- CreateIndex
CREATE INDEX "campaign_ads_campaign_id_position_idx" ON "campaign_ads"("campaign_id", "position");

-- AddForeignKey
ALTER TABLE "campaign_ads" ADD CONSTRAINT "campaign_ads_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

ALTER TABLE "campaigns"
  ADD CONSTRAINT "campaigns_dates_check" CHECK ("start_date" <= "end_date"),
  ADD CONSTRAINT "campaigns_priority_check" CHECK ("priority" >= 0);
