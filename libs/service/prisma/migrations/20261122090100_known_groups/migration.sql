-- For a service that follows groups (follow-groups.ts).

-- CreateTable
CREATE TABLE "known_groups" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "known_groups_pkey" PRIMARY KEY ("id")
);
