-- AlterTable
ALTER TABLE "reconciliations" ADD COLUMN     "began_at" TIMESTAMPTZ(3),
ADD COLUMN     "cursor" TEXT,
ALTER COLUMN "read_until" DROP NOT NULL;

-- CreateTable
CREATE TABLE "ledger_checks" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "differences" INTEGER NOT NULL,

    CONSTRAINT "ledger_checks_pkey" PRIMARY KEY ("id")
);

-- What a schema file cannot say.

ALTER TABLE "ledger_checks" ADD CONSTRAINT "ledger_checks_one" CHECK ("id" = 1);
