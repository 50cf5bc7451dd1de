-- AlterTable
ALTER TABLE "estate_imports" ADD COLUMN     "attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "worked_at" TIMESTAMPTZ(3);
