-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "mfa_passed_at" TIMESTAMPTZ(3),
ADD COLUMN     "signed_in_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP;

-- Until now a session could begin only where somebody signed in, or switched the account.
UPDATE "sessions" SET "signed_in_at" = "created_at";

-- When MFA is turned on, all other sessions end; so the open sessions of whoever has it have passed it.
UPDATE "sessions" SET "mfa_passed_at" = "sessions"."created_at"
FROM "users" WHERE "users"."id" = "sessions"."user_id" AND "users"."mfa_enabled_at" IS NOT NULL AND "sessions"."ended_at" IS NULL;
