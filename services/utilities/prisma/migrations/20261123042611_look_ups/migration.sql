-- CreateTable
CREATE TABLE "known_locations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "latitude" DOUBLE PRECISION,
    "longitude" DOUBLE PRECISION,
    "venue_type" TEXT,
    "opening_hours" JSONB,
    "aggregate_version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "known_locations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "upstream_answers" (
    "slot" BIGSERIAL NOT NULL,
    "key" TEXT NOT NULL,
    "upstream" TEXT NOT NULL,
    "said" JSON NOT NULL,
    "answer" JSON NOT NULL,
    "retrieved_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "upstream_answers_pkey" PRIMARY KEY ("slot")
);

-- CreateTable
CREATE TABLE "upstreams" (
    "name" TEXT NOT NULL,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "day" DATE NOT NULL,
    "calls" INTEGER NOT NULL,

    CONSTRAINT "upstreams_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "upstream_answers_key_key" ON "upstream_answers"("key");
