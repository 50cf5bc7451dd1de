-- When the visit ended: a conversion is counted from then on, and a million of them are not looked up each time.

-- AlterTable
ALTER TABLE "exposure_facts" ADD COLUMN "left_at" TIMESTAMPTZ(3);
ALTER TABLE "meeting_facts" ADD COLUMN "left_at" TIMESTAMPTZ(3);
UPDATE "exposure_facts" AS fact SET "left_at" = visit."left_at" FROM "visit_facts" AS visit
  WHERE visit."account_id" = fact."account_id" AND visit."location_id" = fact."location_id"
    AND visit."date" = fact."date" AND visit."event_id" = fact."event_id";
UPDATE "meeting_facts" AS fact SET "left_at" = visit."left_at" FROM "visit_facts" AS visit
  WHERE visit."account_id" = fact."account_id" AND visit."location_id" = fact."location_id"
    AND visit."date" = fact."date" AND visit."event_id" = fact."event_id";
ALTER TABLE "exposure_facts" ALTER COLUMN "left_at" SET NOT NULL;
ALTER TABLE "meeting_facts" ALTER COLUMN "left_at" SET NOT NULL;
