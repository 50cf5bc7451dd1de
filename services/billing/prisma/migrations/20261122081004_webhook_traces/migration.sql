-- AlterTable
ALTER TABLE "provider_events" ADD COLUMN     "traceparent" TEXT;
