-- AlterTable
ALTER TABLE "known_devices" ADD COLUMN "owner_id" TEXT;
