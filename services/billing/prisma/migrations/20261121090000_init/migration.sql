-- CreateEnum
CREATE TYPE "PlanPriceKind" AS ENUM ('token_pack', 'subscription');

-- CreateEnum
CREATE TYPE "PriceInterval" AS ENUM ('month', 'year');

-- CreateTable
CREATE TABLE "outbox" (
    "sequence" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "account_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "traceparent" TEXT,
    "data" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("sequence")
);

-- CreateTable
CREATE TABLE "inbox" (
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "processed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_pkey" PRIMARY KEY ("consumer","event_id")
);

-- CreateTable
CREATE TABLE "dead_letters" (
    "id" BIGSERIAL NOT NULL,
    "consumer" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "topic" TEXT NOT NULL,
    "envelope" JSONB NOT NULL,
    "attempts" INTEGER NOT NULL,
    "error" TEXT NOT NULL,
    "failed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "replay_requested_at" TIMESTAMPTZ(3),

    CONSTRAINT "dead_letters_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "customers" (
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "provider_customer_id" TEXT,
    "credit_balance_cents" INTEGER NOT NULL DEFAULT 0,
    "currency" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "customers_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "subscriptions" (
    "provider_subscription_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "plan_key" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "cancel_at_period_end" BOOLEAN NOT NULL,
    "current_period_end" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("provider_subscription_id")
);

-- CreateTable
CREATE TABLE "plan_prices" (
    "plan_key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" "PlanPriceKind" NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "currency" TEXT NOT NULL,
    "interval" "PriceInterval",
    "token_amount" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "plan_prices_pkey" PRIMARY KEY ("plan_key")
);

-- CreateTable
CREATE TABLE "usage_prices" (
    "action" TEXT NOT NULL,
    "unit" TEXT NOT NULL,
    "token_amount" INTEGER NOT NULL,
    "description" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "usage_prices_pkey" PRIMARY KEY ("action")
);

-- CreateIndex
CREATE UNIQUE INDEX "outbox_event_id_key" ON "outbox"("event_id");

-- CreateIndex
CREATE INDEX "inbox_processed_at_idx" ON "inbox"("processed_at");

-- CreateIndex
CREATE UNIQUE INDEX "dead_letters_consumer_event_id_key" ON "dead_letters"("consumer", "event_id");

-- CreateIndex
CREATE UNIQUE INDEX "customers_provider_customer_id_key" ON "customers"("provider_customer_id");

-- CreateIndex
CREATE INDEX "subscriptions_account_id_created_at_idx" ON "subscriptions"("account_id", "created_at");

-- AddForeignKey
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "customers"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

ALTER TABLE "plan_prices"
  ADD CONSTRAINT "plan_prices_amounts_check" CHECK ("amount_cents" >= 0 AND "token_amount" >= 0),
  ADD CONSTRAINT "plan_prices_interval_check" CHECK (("kind" = 'subscription') = ("interval" IS NOT NULL));
ALTER TABLE "usage_prices" ADD CONSTRAINT "usage_prices_amount_check" CHECK ("token_amount" >= 0);

INSERT INTO "plan_prices" ("plan_key", "name", "kind", "amount_cents", "currency", "interval", "token_amount", "position") VALUES
  ('starter', 'Starter', 'subscription', 4900, 'usd', 'month', 10000, 1),
  ('growth', 'Growth', 'subscription', 19900, 'usd', 'month', 50000, 2),
  ('enterprise', 'Enterprise', 'subscription', 79900, 'usd', 'month', 250000, 3),
  ('tokens_1000', '1,000 tokens', 'token_pack', 900, 'usd', NULL, 1000, 4),
  ('tokens_10000', '10,000 tokens', 'token_pack', 7900, 'usd', NULL, 10000, 5),
  ('tokens_100000', '100,000 tokens', 'token_pack', 69000, 'usd', NULL, 100000, 6);

INSERT INTO "usage_prices" ("action", "unit", "token_amount", "description", "position") VALUES
  ('score_ad', 'ad', 10, 'Scoring one ad of a campaign', 1),
  ('analyze_media', 'media asset', 5, 'Analysing one uploaded file', 2);
