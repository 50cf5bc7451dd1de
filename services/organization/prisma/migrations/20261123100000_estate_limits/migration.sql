-- CreateTable
CREATE TABLE "account_limits" (
    "account_id" TEXT NOT NULL,
    "limits_version" INTEGER NOT NULL,
    "max_locations" INTEGER,
    "max_screens" INTEGER,

    CONSTRAINT "account_limits_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "estate_totals" (
    "id" BIGSERIAL NOT NULL,
    "account_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "change" INTEGER NOT NULL,

    CONSTRAINT "estate_totals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "estate_totals_account_id_kind_idx" ON "estate_totals"("account_id", "kind");

INSERT INTO estate_totals (account_id, kind, change)
  SELECT account_id, 'group', count(*) FROM groups GROUP BY account_id
  UNION ALL SELECT account_id, 'location', count(*) FROM locations GROUP BY account_id
  UNION ALL SELECT account_id, 'zone', count(*) FROM zones GROUP BY account_id
  UNION ALL SELECT account_id, 'screen', count(*) FROM screens GROUP BY account_id
  UNION ALL SELECT account_id, 'installation', count(*) FROM installations GROUP BY account_id
  UNION ALL SELECT account_id, 'camera', count(*) FROM cameras GROUP BY account_id;

-- How many more rows of a kind the account may have, with what this transaction has inserted; negative if they are too many.
-- Within `margin` of what is allowed it takes a lock until the commit, because then what others insert at the same time
-- matters. It sums up the changes while it has the lock, so that there are few of them. Call it last in a transaction.
CREATE FUNCTION estate_room(of_account TEXT, of_kind TEXT, allowed INTEGER, margin INTEGER) RETURNS INTEGER
LANGUAGE plpgsql AS $$
DECLARE
  lock_key CONSTANT BIGINT := hashtextextended(of_account || ' ' || of_kind, 5);
  total BIGINT;
  parts BIGINT;
BEGIN
  SELECT coalesce(sum(change), 0), count(*) INTO total, parts
    FROM estate_totals WHERE account_id = of_account AND kind = of_kind;
  IF allowed - total < margin THEN
    PERFORM pg_advisory_xact_lock(lock_key);
  ELSIF parts <= 100 OR NOT pg_try_advisory_xact_lock(lock_key) THEN
    RETURN allowed - total;
  END IF;
  WITH summed AS (DELETE FROM estate_totals WHERE account_id = of_account AND kind = of_kind RETURNING change)
    INSERT INTO estate_totals (account_id, kind, change)
    SELECT of_account, of_kind, coalesce(sum(change), 0) FROM summed RETURNING change INTO total;
  RETURN allowed - total;
END
$$;
