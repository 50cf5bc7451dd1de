-- Items arrive nearly in the order of their receipt, so an index of blocks finds the young ones among old ones at no cost
-- to who inserts.

-- CreateIndex
CREATE INDEX "visits_received_at_idx" ON "visits" USING BRIN ("received_at");

-- CreateIndex
CREATE INDEX "plays_received_at_idx" ON "plays" USING BRIN ("received_at");
