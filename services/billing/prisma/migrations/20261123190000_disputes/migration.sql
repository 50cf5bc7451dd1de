-- CreateEnum
CREATE TYPE "DisputeStatus" AS ENUM ('open', 'won', 'lost');

-- AlterEnum
ALTER TYPE "MoneyEntryKind" ADD VALUE 'dispute' BEFORE 'adjustment';

-- DropIndex
DROP INDEX "money_entries_payment_id_kind_key";

-- AlterTable
ALTER TABLE "money_entries" ADD COLUMN     "dispute_id" TEXT;

-- AlterTable
ALTER TABLE "payments" ADD COLUMN     "disputed" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "disputes" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "token_amount" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "status" "DisputeStatus" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "disputes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "disputes_account_id_idx" ON "disputes"("account_id");

-- CreateIndex
CREATE INDEX "disputes_payment_id_idx" ON "disputes"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "money_entries_dispute_id_key" ON "money_entries"("dispute_id");

-- AddForeignKey
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "money_entries" ADD CONSTRAINT "money_entries_dispute_id_fkey" FOREIGN KEY ("dispute_id") REFERENCES "disputes"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What a schema file cannot say.

-- A payment has one entry of each kind, and one more for each dispute of it that is lost.
CREATE UNIQUE INDEX "money_entries_payment_id_kind_key" ON "money_entries" ("payment_id", "kind") WHERE "dispute_id" IS NULL;
ALTER TABLE "money_entries" DROP CONSTRAINT "money_entries_kind_check";
ALTER TABLE "money_entries"
  ADD CONSTRAINT "money_entries_kind_check" CHECK (
    ("kind"::text = 'dispute') = ("dispute_id" IS NOT NULL) AND CASE "kind"::text
    WHEN 'payment' THEN "amount_cents" > 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'credit' THEN "amount_cents" <> 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'dispute' THEN "amount_cents" < 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'refund' THEN "amount_cents" < 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL
    ELSE "amount_cents" <> 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL END);
ALTER TABLE "disputes" ADD CONSTRAINT "disputes_amounts_check" CHECK ("amount_cents" > 0 AND "token_amount" >= 0);

-- What a bank has decided stays so.
CREATE FUNCTION "refuse_dispute_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'dispute % is decided, and stays so', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "disputes_stay_decided" BEFORE UPDATE ON "disputes" FOR EACH ROW
  WHEN (OLD."status" <> 'open') EXECUTE FUNCTION "refuse_dispute_change"();
