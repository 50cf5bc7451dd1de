-- CreateEnum
CREATE TYPE "ScoringState" AS ENUM ('holding', 'queued', 'scored', 'done', 'failed');

-- CreateTable
CREATE TABLE "scoring_runs" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "state" "ScoringState" NOT NULL,
    "signature" TEXT NOT NULL,
    "facts" JSONB NOT NULL,
    "result" JSONB,
    "amount" INTEGER,
    "hold_id" TEXT,
    "job_id" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "scoring_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "scores" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "campaign_ad_id" TEXT NOT NULL,
    "ad_id" TEXT NOT NULL,
    "job_id" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "heuristic" BOOLEAN NOT NULL,
    "signature" TEXT NOT NULL,
    "score" DOUBLE PRECISION NOT NULL,
    "components" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "scores_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "scoring_runs_job_id_key" ON "scoring_runs"("job_id");

-- CreateIndex
CREATE INDEX "scoring_runs_state_updated_at_idx" ON "scoring_runs"("state", "updated_at");

-- CreateIndex
CREATE INDEX "scoring_runs_campaign_id_idx" ON "scoring_runs"("campaign_id");

-- CreateIndex
CREATE INDEX "scores_campaign_id_id_idx" ON "scores"("campaign_id", "id");

-- AddForeignKey
ALTER TABLE "scoring_runs" ADD CONSTRAINT "scoring_runs_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "scores" ADD CONSTRAINT "scores_campaign_id_fkey" FOREIGN KEY ("campaign_id") REFERENCES "campaigns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

-- One run of a campaign at a time.
CREATE UNIQUE INDEX "scoring_runs_active" ON "scoring_runs"("campaign_id") WHERE "state" IN ('holding', 'queued', 'scored');

ALTER TABLE "scoring_runs"
  ADD CONSTRAINT "scoring_runs_job_check" CHECK ("state" IN ('holding', 'failed') OR "job_id" IS NOT NULL),
  ADD CONSTRAINT "scoring_runs_result_check" CHECK ("state" NOT IN ('scored', 'done') OR "result" IS NOT NULL);
