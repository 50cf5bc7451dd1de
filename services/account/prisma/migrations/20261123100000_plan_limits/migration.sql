-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "limits_version" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "plan_key" TEXT NOT NULL DEFAULT 'free',
ADD COLUMN     "plan_subscription_id" TEXT;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_plan_key_fkey" FOREIGN KEY ("plan_key") REFERENCES "plans"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- The limits are enforced from now on: the smallest plan has room to try a chain of shops.
UPDATE "plans" SET "max_users" = 25, "max_locations" = 100, "max_screens" = 500 WHERE "key" = 'free';
UPDATE "plans" SET "max_users" = 50, "max_locations" = 500, "max_screens" = 2500 WHERE "key" = 'starter';
UPDATE "plans" SET "max_users" = 250, "max_locations" = 5000, "max_screens" = 25000 WHERE "key" = 'growth';
