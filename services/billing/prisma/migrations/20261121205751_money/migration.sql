-- CreateEnum
CREATE TYPE "CheckoutMode" AS ENUM ('payment', 'subscription');

-- CreateEnum
CREATE TYPE "CheckoutStatus" AS ENUM ('open', 'complete', 'expired');

-- CreateEnum
CREATE TYPE "PaymentStatus" AS ENUM ('pending', 'succeeded', 'failed');

-- CreateEnum
CREATE TYPE "RefundStatus" AS ENUM ('pending', 'succeeded', 'failed');

-- CreateEnum
CREATE TYPE "MoneyEntryKind" AS ENUM ('payment', 'refund', 'adjustment');

-- CreateEnum
CREATE TYPE "PlanChangeType" AS ENUM ('upgrade', 'downgrade');

-- AlterTable
ALTER TABLE "customers" ADD COLUMN     "closed_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_seq" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "ledger_cents" BIGINT NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "checkouts" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "mode" "CheckoutMode" NOT NULL,
    "plan_key" TEXT NOT NULL,
    "return_url" TEXT,
    "status" "CheckoutStatus" NOT NULL DEFAULT 'open',
    "provider_checkout_id" TEXT,
    "url" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "checkouts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payments" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" "PlanPriceKind" NOT NULL,
    "plan_key" TEXT NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "total_cents" INTEGER NOT NULL,
    "refunded_cents" INTEGER NOT NULL DEFAULT 0,
    "currency" TEXT NOT NULL,
    "token_amount" INTEGER NOT NULL,
    "status" "PaymentStatus" NOT NULL,
    "receipt_url" TEXT,
    "provider_payment_id" TEXT,
    "provider_invoice_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "refunds" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "token_amount" INTEGER NOT NULL,
    "destination" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "status" "RefundStatus" NOT NULL,
    "hold_id" TEXT,
    "provider_refund_id" TEXT,
    "idempotency_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "refunds_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "money_entries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "kind" "MoneyEntryKind" NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "balance_after_cents" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "payment_id" TEXT,
    "refund_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "money_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "provider_events" (
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "object_kind" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT,

    CONSTRAINT "provider_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "reconciliations" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "read_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "reconciliations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "plan_changes" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "provider_subscription_id" TEXT NOT NULL,
    "from_plan_key" TEXT NOT NULL,
    "to_plan_key" TEXT NOT NULL,
    "change_type" "PlanChangeType" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "done_at" TIMESTAMPTZ(3),

    CONSTRAINT "plan_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "customers_closed_at_idx" ON "customers"("closed_at");

-- CreateIndex
CREATE UNIQUE INDEX "checkouts_provider_checkout_id_key" ON "checkouts"("provider_checkout_id");

-- CreateIndex
CREATE INDEX "checkouts_account_id_created_at_idx" ON "checkouts"("account_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "payments_provider_payment_id_key" ON "payments"("provider_payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "payments_provider_invoice_id_key" ON "payments"("provider_invoice_id");

-- CreateIndex
CREATE INDEX "payments_account_id_id_idx" ON "payments"("account_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "refunds_provider_refund_id_key" ON "refunds"("provider_refund_id");

-- CreateIndex
CREATE INDEX "refunds_account_id_id_idx" ON "refunds"("account_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "refunds_payment_id_idempotency_key_key" ON "refunds"("payment_id", "idempotency_key");

-- CreateIndex
CREATE INDEX "refunds_status_created_at_idx" ON "refunds"("status", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "money_entries_account_id_seq_key" ON "money_entries"("account_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "money_entries_payment_id_kind_key" ON "money_entries"("payment_id", "kind");

-- CreateIndex
CREATE UNIQUE INDEX "money_entries_refund_id_kind_key" ON "money_entries"("refund_id", "kind");

-- CreateIndex
CREATE INDEX "provider_events_due_at_idx" ON "provider_events"("due_at");

-- CreateIndex
CREATE INDEX "provider_events_received_at_idx" ON "provider_events"("received_at");

-- CreateIndex
CREATE INDEX "plan_changes_account_id_created_at_idx" ON "plan_changes"("account_id", "created_at");

-- AddForeignKey
ALTER TABLE "checkouts" ADD CONSTRAINT "checkouts_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "money_entries" ADD CONSTRAINT "money_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "money_entries" ADD CONSTRAINT "money_entries_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payments"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "money_entries" ADD CONSTRAINT "money_entries_refund_id_fkey" FOREIGN KEY ("refund_id") REFERENCES "refunds"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "plan_changes" ADD CONSTRAINT "plan_changes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

ALTER TABLE "payments"
  ADD CONSTRAINT "payments_amounts_check" CHECK ("amount_cents" >= 0 AND "total_cents" >= "amount_cents" AND "token_amount" >= 0),
  ADD CONSTRAINT "payments_refunded_check" CHECK ("refunded_cents" BETWEEN 0 AND "amount_cents"),
  ADD CONSTRAINT "payments_provider_check" CHECK ("provider_payment_id" IS NOT NULL OR "provider_invoice_id" IS NOT NULL);
ALTER TABLE "refunds" ADD CONSTRAINT "refunds_amounts_check" CHECK ("amount_cents" > 0 AND "token_amount" >= 0);
ALTER TABLE "money_entries"
  ADD CONSTRAINT "money_entries_kind_check" CHECK (CASE "kind"
    WHEN 'payment' THEN "amount_cents" > 0 AND "payment_id" IS NOT NULL AND "refund_id" IS NULL
    WHEN 'refund' THEN "amount_cents" < 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL
    ELSE "amount_cents" <> 0 AND "refund_id" IS NOT NULL AND "payment_id" IS NULL END);
ALTER TABLE "reconciliations" ADD CONSTRAINT "reconciliations_one" CHECK ("id" = 1);

-- What has succeeded stays so: what comes after it is a refund.
CREATE FUNCTION "refuse_payment_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'payment % has succeeded, and stays so', OLD.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "payments_stay_succeeded" BEFORE UPDATE ON "payments" FOR EACH ROW
  WHEN (OLD."status" = 'succeeded'
    AND (NEW."status", NEW."account_id", NEW."kind", NEW."plan_key", NEW."amount_cents", NEW."total_cents", NEW."currency", NEW."token_amount")
      IS DISTINCT FROM
      (OLD."status", OLD."account_id", OLD."kind", OLD."plan_key", OLD."amount_cents", OLD."total_cents", OLD."currency", OLD."token_amount"))
  EXECUTE FUNCTION "refuse_payment_change"();

-- The ledger is append-only, and moves the sum in its customer's row, which nobody else does.
CREATE FUNCTION "refuse_ledger_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the money ledger is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "money_entries_append_only" BEFORE UPDATE OR DELETE ON "money_entries"
  FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
CREATE TRIGGER "money_entries_no_truncate" BEFORE TRUNCATE ON "money_entries"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();

CREATE FUNCTION "post_money_entry"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE customers SET ledger_cents = NEW.balance_after_cents, last_seq = NEW.seq
  WHERE account_id = NEW.account_id AND last_seq = NEW.seq - 1 AND ledger_cents + NEW.amount_cents = NEW.balance_after_cents;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'money entry % does not follow from the ledger', NEW.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "money_entries_post" AFTER INSERT ON "money_entries"
  FOR EACH ROW EXECUTE FUNCTION "post_money_entry"();

CREATE FUNCTION "refuse_sum_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the sum of the ledger is moved by its entries alone' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "customers_begin" BEFORE INSERT ON "customers" FOR EACH ROW
  WHEN ((NEW."ledger_cents", NEW."last_seq") <> (0, 0))
  EXECUTE FUNCTION "refuse_sum_change"();
CREATE TRIGGER "customers_guard" BEFORE UPDATE ON "customers" FOR EACH ROW
  WHEN (pg_trigger_depth() = 0 AND (NEW."ledger_cents", NEW."last_seq") IS DISTINCT FROM (OLD."ledger_cents", OLD."last_seq"))
  EXECUTE FUNCTION "refuse_sum_change"();

-- Whoever has a page open, or a subscription, pays and gets what a price said then: another amount is another plan key.
CREATE FUNCTION "refuse_price_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'price % stays what it is: end it, and sell another', OLD.plan_key USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "plan_prices_stay" BEFORE UPDATE ON "plan_prices" FOR EACH ROW
  WHEN ((NEW."plan_key", NEW."kind", NEW."amount_cents", NEW."currency", NEW."interval", NEW."token_amount")
    IS DISTINCT FROM (OLD."plan_key", OLD."kind", OLD."amount_cents", OLD."currency", OLD."interval", OLD."token_amount"))
  EXECUTE FUNCTION "refuse_price_change"();
