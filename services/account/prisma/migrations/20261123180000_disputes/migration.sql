-- AlterEnum
ALTER TYPE "LedgerKind" ADD VALUE 'debt';

-- AlterTable
ALTER TABLE "token_grants" ADD COLUMN     "purchase_id" TEXT;

-- AlterTable
ALTER TABLE "token_holds" ADD COLUMN     "part_of" TEXT;

-- CreateTable
CREATE TABLE "token_debts" (
    "account_id" TEXT NOT NULL,
    "dispute_id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "paid" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "token_debts_pkey" PRIMARY KEY ("account_id","dispute_id")
);

-- AddForeignKey
ALTER TABLE "token_debts" ADD CONSTRAINT "token_debts_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "balances"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

ALTER TABLE "token_debts" ADD CONSTRAINT "token_debts_paid_check" CHECK ("amount" >= 0 AND "paid" BETWEEN 0 AND "amount");
CREATE INDEX "token_grants_purchase_idx" ON "token_grants" ("purchase_id") WHERE "purchase_id" IS NOT NULL;
CREATE INDEX "token_holds_grant_idx" ON "token_holds" ("grant_id") WHERE "grant_id" IS NOT NULL;
CREATE INDEX "token_holds_part_idx" ON "token_holds" ("part_of") WHERE "part_of" IS NOT NULL;

-- Tokens that came back after a refund belong to their purchase: the hold of that refund says which.
UPDATE "token_grants" AS g SET "purchase_id" = h."grant_id"
FROM "ledger_entries" AS e, "token_holds" AS h
WHERE e."id" = g."entry_id" AND e."idempotency_key" LIKE 'refund-reversed:%' AND h."account_id" = e."account_id"
  AND h."idempotency_key" IN (replace(e."idempotency_key", 'refund-reversed:', 'refund:'), replace(e."idempotency_key", 'refund-reversed:', 'billing:'))
  AND h."grant_id" IS NOT NULL;
