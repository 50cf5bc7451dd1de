-- CreateTable
CREATE TABLE "sign_in_ranges" (
    "user_id" TEXT NOT NULL,
    "range" TEXT NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_ranges_pkey" PRIMARY KEY ("user_id","range")
);

-- CreateIndex
CREATE INDEX "sign_in_ranges_last_seen_at_idx" ON "sign_in_ranges"("last_seen_at");

-- AddForeignKey
ALTER TABLE "sign_in_ranges" ADD CONSTRAINT "sign_in_ranges_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Without this nobody would be told of the next sign-in from elsewhere, because it would be the first one known.
INSERT INTO "sign_in_ranges" ("user_id", "range", "last_seen_at")
SELECT "user_id", network(set_masklen("ip"::inet, CASE family("ip"::inet) WHEN 4 THEN 24 ELSE 48 END))::text, max("last_used_at")
FROM (SELECT * FROM "sessions" WHERE pg_input_is_valid("ip", 'inet') OFFSET 0) AS known
GROUP BY 1, 2;
