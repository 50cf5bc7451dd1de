-- AlterTable
ALTER TABLE "token_debts" ADD COLUMN     "disputed" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "lost" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "taken" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "token_debts_payment_idx" ON "token_debts"("account_id", "payment_id");

-- What a schema file cannot say.

UPDATE "token_debts" AS d SET "taken" = (
  SELECT coalesce(sum(h."captured_amount"), 0) FROM "token_holds" AS h
  WHERE h."account_id" = d."account_id" AND h."status" = 'captured'
    AND starts_with(translate(h."idempotency_key", '+', ':') || ':', 'dispute:' || d."dispute_id" || ':'));
UPDATE "token_debts" SET "disputed" = "taken" + "amount";

-- Disputes that are open now have a row, too: their holds say what they hold at least.
INSERT INTO "token_debts" ("account_id", "dispute_id", "payment_id", "disputed", "lost", "amount", "created_at")
SELECT h."account_id", split_part(substr(h."idempotency_key", 9), '+', 1), substr(e."idempotency_key", 9), sum(h."amount"), false, 0, min(h."created_at")
FROM "token_holds" AS h JOIN "token_grants" AS g ON g."entry_id" = h."grant_id"
JOIN "ledger_entries" AS e ON e."id" = coalesce(g."purchase_id", g."entry_id")
WHERE h."status" = 'pending' AND starts_with(h."idempotency_key", 'dispute:')
GROUP BY 1, 2, 3;

ALTER TABLE "token_debts" ADD CONSTRAINT "token_debts_disputed_check"
  CHECK ("disputed" >= 0 AND "taken" >= 0 AND ("lost" OR "amount" + "taken" = 0));
