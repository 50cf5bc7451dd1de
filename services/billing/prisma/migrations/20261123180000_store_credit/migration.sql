-- A value of an enum cannot be used in the transaction that adds it, so the constraint that needs it compares text.
ALTER TYPE "MoneyEntryKind" ADD VALUE 'credit' BEFORE 'refund';

ALTER TABLE "payments" ADD COLUMN     "credited_cents" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "credit_cents" INTEGER NOT NULL DEFAULT 0;

-- What a schema file cannot say.

ALTER TABLE "payments" ADD CONSTRAINT "payments_credited_check" CHECK ("credited_cents" BETWEEN 0 AND "total_cents");
ALTER TABLE "money_entries" DROP CONSTRAINT "money_entries_kind_check";
ALTER TABLE "money_entries"
  ADD CONSTRAINT "money_entries_kind_check" CHECK (CASE "kind"::text
    WHEN 'payment' THEN "amount_cents" > 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'credit' THEN "amount_cents" <> 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'refund' THEN "amount_cents" < 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL
    ELSE "amount_cents" <> 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL END);

-- A change of plan to a cheaper period can give credit, so what an invoice gave or used stays as its amounts do.
DROP TRIGGER "payments_stay_succeeded" ON "payments";
CREATE TRIGGER "payments_stay_succeeded" BEFORE UPDATE ON "payments" FOR EACH ROW
  WHEN (OLD."status" = 'succeeded'
    AND (NEW."status", NEW."account_id", NEW."kind", NEW."plan_key", NEW."amount_cents", NEW."total_cents", NEW."credit_cents", NEW."currency", NEW."token_amount")
      IS DISTINCT FROM
      (OLD."status", OLD."account_id", OLD."kind", OLD."plan_key", OLD."amount_cents", OLD."total_cents", OLD."credit_cents", OLD."currency", OLD."token_amount"))
  EXECUTE FUNCTION "refuse_payment_change"();
