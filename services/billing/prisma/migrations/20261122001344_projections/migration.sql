-- CreateTable
CREATE TABLE "projection_tombstones" (
    "id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "projection_tombstones_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "projection_snapshots" (
    "name" TEXT NOT NULL,
    "cursor" TEXT,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "projection_snapshots_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE INDEX "projection_tombstones_deleted_at_idx" ON "projection_tombstones"("deleted_at");
