-- CreateEnum
CREATE TYPE "BlacklistReason" AS ENUM ('staff', 'opt_out', 'banned');

-- CreateTable
CREATE TABLE "blacklist_entries" (
    "account_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "reason" "BlacklistReason" NOT NULL,
    "location_id" TEXT,
    "valid_from" TIMESTAMPTZ(3),
    "valid_until" TIMESTAMPTZ(3),
    "note" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "blacklist_entries_pkey" PRIMARY KEY ("account_id","id")
);

-- One entry for the same visitor, place and time. All locations, and an open end, are values like any other.
CREATE UNIQUE INDEX "blacklist_entries_once" ON "blacklist_entries"("account_id", "visitor_key", "location_id", "valid_from", "valid_until") NULLS NOT DISTINCT;

-- CreateIndex: the visits that an entry leaves out.
CREATE INDEX "visits_account_id_visitor_key_entered_at_idx" ON "visits"("account_id", "visitor_key", "entered_at");
