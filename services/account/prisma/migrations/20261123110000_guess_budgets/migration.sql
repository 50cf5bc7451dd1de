-- CreateTable
CREATE TABLE "guess_budgets" (
    "address_mark" TEXT NOT NULL,
    "network_mark" TEXT NOT NULL,
    "wrong" INTEGER NOT NULL DEFAULT 0,
    "hour_ends_at" TIMESTAMPTZ(3),
    "blocked_until" TIMESTAMPTZ(3),
    "wrong_passwords" INTEGER NOT NULL DEFAULT 0,
    "signed_in_at" TIMESTAMPTZ(3),
    "told_at" TIMESTAMPTZ(3),
    "touched_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "guess_budgets_pkey" PRIMARY KEY ("address_mark","network_mark")
);

-- CreateIndex
CREATE INDEX "guess_budgets_touched_at_idx" ON "guess_budgets"("touched_at");
