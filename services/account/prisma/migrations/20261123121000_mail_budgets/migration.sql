-- CreateTable
CREATE TABLE "mail_budgets" (
    "sender" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "in_hour" INTEGER NOT NULL,
    "hour_ends_at" TIMESTAMPTZ(3) NOT NULL,
    "in_day" INTEGER NOT NULL,
    "day_ends_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_budgets_pkey" PRIMARY KEY ("sender","recipient")
);

-- CreateIndex
CREATE INDEX "mail_budgets_day_ends_at_idx" ON "mail_budgets"("day_ends_at");
