-- AlterTable
ALTER TABLE "payments" ADD COLUMN     "asked_holder" BOOLEAN NOT NULL DEFAULT false;
