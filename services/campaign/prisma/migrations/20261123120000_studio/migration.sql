-- CreateEnum
CREATE TYPE "AdFit" AS ENUM ('contain', 'cover', 'stretch');

-- CreateEnum
CREATE TYPE "VersionStatus" AS ENUM ('live', 'superseded', 'closed');

-- AlterTable
ALTER TABLE "campaigns" DROP COLUMN "estimated_locations",
DROP COLUMN "poster_url",
ADD COLUMN     "live_version" INTEGER,
ADD COLUMN     "placed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "ads" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "ad_library_id" TEXT NOT NULL,
    "media_asset_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "fit" "AdFit" NOT NULL DEFAULT 'contain',
    "muted" BOOLEAN NOT NULL DEFAULT false,
    "click_through" JSONB,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ad_profiles" (
    "id" TEXT NOT NULL,
    "ad_id" TEXT NOT NULL,
    "audience" JSONB NOT NULL,
    "dayparts" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ad_profiles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "campaign_versions" (
    "campaign_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "status" "VersionStatus" NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,
    "published_by" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "content_hash" TEXT NOT NULL,
    "ad_count" INTEGER NOT NULL,
    "screen_count" INTEGER NOT NULL,
    "snapshot" JSONB NOT NULL,
    "validation" JSONB NOT NULL,

    CONSTRAINT "campaign_versions_pkey" PRIMARY KEY ("campaign_id","version")
);

-- CreateTable
CREATE TABLE "live_ads" (
    "campaign_ad_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "ad_id" TEXT NOT NULL,
    "media_asset_id" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "size_bytes" BIGINT NOT NULL,
    "mime" TEXT NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "fit" "AdFit" NOT NULL,
    "muted" BOOLEAN NOT NULL,
    "screen_tag" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "live_ads_pkey" PRIMARY KEY ("campaign_ad_id")
);

-- CreateTable
CREATE TABLE "placements" (
    "account_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "campaign_ad_id" TEXT NOT NULL,
    "ad_id" TEXT NOT NULL,
    "screen_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "group_id" TEXT,
    "screen_tag" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "valid_from" TIMESTAMPTZ(3) NOT NULL,
    "valid_to" TIMESTAMPTZ(3),
    "closed_by" TEXT,

    CONSTRAINT "placements_pkey" PRIMARY KEY ("campaign_id","screen_id","campaign_ad_id","valid_from")
);

-- CreateIndex
CREATE INDEX "ads_account_id_id_idx" ON "ads"("account_id", "id");

-- CreateIndex
CREATE INDEX "ads_ad_library_id_id_idx" ON "ads"("ad_library_id", "id");

-- CreateIndex
CREATE INDEX "ads_media_asset_id_idx" ON "ads"("media_asset_id");

-- CreateIndex
CREATE UNIQUE INDEX "ad_profiles_ad_id_key" ON "ad_profiles"("ad_id");

-- CreateIndex
CREATE INDEX "live_ads_campaign_id_idx" ON "live_ads"("campaign_id");

-- CreateIndex
CREATE INDEX "live_ads_account_id_screen_tag_idx" ON "live_ads"("account_id", "screen_tag");

-- CreateIndex
CREATE INDEX "live_ads_ad_id_idx" ON "live_ads"("ad_id");

-- CreateIndex
CREATE INDEX "live_ads_media_asset_id_idx" ON "live_ads"("media_asset_id");

-- CreateIndex
CREATE INDEX "campaign_ads_ad_id_idx" ON "campaign_ads"("ad_id");

-- CreateIndex
CREATE UNIQUE INDEX "campaign_ads_campaign_id_ad_id_screen_tag_key" ON "campaign_ads"("campaign_id", "ad_id", "screen_tag");

-- CreateIndex
CREATE INDEX "campaigns_media_asset_id_idx" ON "campaigns"("media_asset_id");

-- AddForeignKey
ALTER TABLE "campaigns" ADD CONSTRAINT "campaigns_media_asset_id_fkey" FOREIGN KEY ("media_asset_id") REFERENCES "media_assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "campaign_ads" ADD CONSTRAINT "campaign_ads_ad_id_fkey" FOREIGN KEY ("ad_id") REFERENCES "ads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ads" ADD CONSTRAINT "ads_ad_library_id_fkey" FOREIGN KEY ("ad_library_id") REFERENCES "ad_libraries"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ads" ADD CONSTRAINT "ads_media_asset_id_fkey" FOREIGN KEY ("media_asset_id") REFERENCES "media_assets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ad_profiles" ADD CONSTRAINT "ad_profiles_ad_id_fkey" FOREIGN KEY ("ad_id") REFERENCES "ads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "campaign_versions" ADD CONSTRAINT "campaign_versions_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "live_ads" ADD CONSTRAINT "live_ads_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

-- A campaign ad plays on a screen at most once at a time. By screen: so manifests, and changes of the estate, find what plays there.
CREATE UNIQUE INDEX "placements_live" ON "placements"("screen_id", "campaign_ad_id") WHERE "valid_to" IS NULL;
CREATE UNIQUE INDEX "campaign_versions_live" ON "campaign_versions"("campaign_id") WHERE "status" = 'live';

ALTER TABLE "placements"
  ADD CONSTRAINT "placements_interval_check" CHECK ("valid_from" < "valid_to"),
  ADD CONSTRAINT "placements_closed_check" CHECK (("valid_to" IS NULL) = ("closed_by" IS NULL));
ALTER TABLE "campaign_versions"
  ADD CONSTRAINT "campaign_versions_ended_check" CHECK (("status" = 'live') = ("ended_at" IS NULL));
