-- CreateEnum
CREATE TYPE "EstateImportStatus" AS ENUM ('queued', 'running', 'succeeded', 'failed');

-- CreateTable
CREATE TABLE "estate_imports" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "grants" JSONB,
    "dry_run" BOOLEAN NOT NULL,
    "media" TEXT NOT NULL,
    "status" "EstateImportStatus" NOT NULL DEFAULT 'queued',
    "error" TEXT,
    "traceparent" TEXT,
    "staged_at" TIMESTAMPTZ(3),
    "total" INTEGER NOT NULL DEFAULT 0,
    "created" INTEGER NOT NULL DEFAULT 0,
    "updated" INTEGER NOT NULL DEFAULT 0,
    "unchanged" INTEGER NOT NULL DEFAULT 0,
    "refused" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "estate_imports_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "estate_import_parts" (
    "import_id" TEXT NOT NULL,
    "part" INTEGER NOT NULL,
    "bytes" BYTEA NOT NULL,

    CONSTRAINT "estate_import_parts_pkey" PRIMARY KEY ("import_id","part")
);

-- CreateTable
CREATE TABLE "estate_import_rows" (
    "import_id" TEXT NOT NULL,
    "row" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "parent" TEXT,
    "unit" INTEGER,
    "fields" JSONB,
    "result" TEXT,
    "reason" TEXT,

    CONSTRAINT "estate_import_rows_pkey" PRIMARY KEY ("import_id","row")
);

-- CreateIndex
CREATE INDEX "estate_imports_account_id_id_idx" ON "estate_imports"("account_id", "id");

-- CreateIndex
CREATE INDEX "estate_import_rows_import_id_unit_row_idx" ON "estate_import_rows"("import_id", "unit", "row");

-- AddForeignKey
ALTER TABLE "estate_import_parts" ADD CONSTRAINT "estate_import_parts_import_id_fkey" FOREIGN KEY ("import_id") REFERENCES "estate_imports"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

-- Those that wait, oldest first.
CREATE INDEX "estate_imports_waiting" ON "estate_imports"("id") WHERE "status" IN ('queued', 'running');
-- A dry run sets up a group again for each lot of its locations.
CREATE INDEX "estate_import_rows_groups" ON "estate_import_rows"("import_id", "external_id") WHERE "kind" = 'group';
