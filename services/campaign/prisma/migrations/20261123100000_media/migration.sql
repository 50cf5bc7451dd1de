-- CreateEnum
CREATE TYPE "MediaKind" AS ENUM ('image', 'video');

-- CreateEnum
CREATE TYPE "MediaAssetStatus" AS ENUM ('awaiting_upload', 'uploaded', 'processing', 'ready', 'failed');

-- CreateEnum
CREATE TYPE "JobStatus" AS ENUM ('queued', 'running', 'succeeded', 'failed');

-- CreateTable
CREATE TABLE "media_libraries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_libraries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ad_libraries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ad_libraries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "media_assets" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "media_library_id" TEXT NOT NULL,
    "filename" TEXT NOT NULL,
    "kind" "MediaKind" NOT NULL,
    "status" "MediaAssetStatus" NOT NULL DEFAULT 'awaiting_upload',
    "size_bytes" BIGINT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "sha256" TEXT,
    "probe" JSONB,
    "failure" JSONB,
    "job_id" TEXT,
    "upload_key" TEXT,
    "content_key" TEXT,
    "poster_key" TEXT,
    "thumbnail_key" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "media_assets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upload_parts" (
    "media_asset_id" TEXT NOT NULL,
    "part_number" INTEGER NOT NULL,
    "key" TEXT NOT NULL,

    CONSTRAINT "upload_parts_pkey" PRIMARY KEY ("media_asset_id","part_number")
);

-- CreateTable
CREATE TABLE "stored_objects" (
    "key" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "doomed_at" TIMESTAMPTZ(3),

    CONSTRAINT "stored_objects_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "analyses" (
    "id" TEXT NOT NULL,
    "media_asset_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "analyser" TEXT NOT NULL,
    "heuristic" BOOLEAN NOT NULL,
    "frame_at_ms" INTEGER,
    "technical" JSONB NOT NULL,
    "look" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "analyses_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "jobs" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" "JobStatus" NOT NULL DEFAULT 'queued',
    "progress" INTEGER NOT NULL DEFAULT 0,
    "subject_id" TEXT NOT NULL,
    "hold_id" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" JSONB,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "jobs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "media_libraries_account_id_id_idx" ON "media_libraries"("account_id", "id");

-- CreateIndex
CREATE INDEX "ad_libraries_account_id_id_idx" ON "ad_libraries"("account_id", "id");

-- CreateIndex
CREATE INDEX "media_assets_account_id_id_idx" ON "media_assets"("account_id", "id");

-- CreateIndex
CREATE INDEX "media_assets_media_library_id_id_idx" ON "media_assets"("media_library_id", "id");

-- CreateIndex
CREATE INDEX "media_assets_account_id_sha256_idx" ON "media_assets"("account_id", "sha256");

-- CreateIndex
CREATE INDEX "media_assets_content_key_idx" ON "media_assets"("content_key");

-- CreateIndex
CREATE INDEX "media_assets_status_created_at_idx" ON "media_assets"("status", "created_at");

-- CreateIndex
CREATE INDEX "stored_objects_doomed_at_idx" ON "stored_objects"("doomed_at");

-- CreateIndex
CREATE UNIQUE INDEX "analyses_media_asset_id_key" ON "analyses"("media_asset_id");

-- CreateIndex
CREATE INDEX "jobs_subject_id_idx" ON "jobs"("subject_id");

-- CreateIndex
CREATE INDEX "jobs_finished_at_idx" ON "jobs"("finished_at");

-- AddForeignKey
ALTER TABLE "media_assets" ADD CONSTRAINT "media_assets_media_library_id_fkey" FOREIGN KEY ("media_library_id") REFERENCES "media_libraries"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "upload_parts" ADD CONSTRAINT "upload_parts_media_asset_id_fkey" FOREIGN KEY ("media_asset_id") REFERENCES "media_assets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "analyses" ADD CONSTRAINT "analyses_media_asset_id_fkey" FOREIGN KEY ("media_asset_id") REFERENCES "media_assets"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

ALTER TABLE "media_assets"
  ADD CONSTRAINT "media_assets_size_check" CHECK ("size_bytes" >= 0),
  ADD CONSTRAINT "media_assets_failure_check" CHECK (("status" = 'failed') = ("failure" IS NOT NULL)),
  ADD CONSTRAINT "media_assets_ready_check" CHECK ("status" <> 'ready' OR ("sha256" IS NOT NULL AND "probe" IS NOT NULL AND "content_key" IS NOT NULL));

ALTER TABLE "jobs"
  ADD CONSTRAINT "jobs_progress_check" CHECK ("progress" BETWEEN 0 AND 100 AND ("progress" = 100) = ("status" = 'succeeded')),
  ADD CONSTRAINT "jobs_finished_check" CHECK (("finished_at" IS NOT NULL) = ("status" IN ('succeeded', 'failed'))),
  ADD CONSTRAINT "jobs_error_check" CHECK (("error" IS NOT NULL) = ("status" = 'failed'));
