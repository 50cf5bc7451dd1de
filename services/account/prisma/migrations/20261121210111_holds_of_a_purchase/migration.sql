-- AlterTable
ALTER TABLE "token_grants" ADD COLUMN     "reserved" BIGINT NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "token_holds" ADD COLUMN     "grant_id" TEXT;

-- CreateTable
CREATE TABLE "settlements" (
    "account_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "settled_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "settlements_pkey" PRIMARY KEY ("account_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "token_grants_entry_id_account_id_key" ON "token_grants"("entry_id", "account_id");

-- AddForeignKey
ALTER TABLE "token_holds" ADD CONSTRAINT "token_holds_grant_id_account_id_fkey" FOREIGN KEY ("grant_id", "account_id") REFERENCES "token_grants"("entry_id", "account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "settlements" ADD CONSTRAINT "settlements_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "balances"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

-- Of each grant: reserved = the sum of the pending holds of it, and never more than what is left.
ALTER TABLE "token_grants" ADD CONSTRAINT "token_grants_reserved_check" CHECK ("reserved" BETWEEN 0 AND "remaining");

-- Grants with tokens that no hold of them reserves. `remaining` is how many, `before` what burns before them.
DROP VIEW "open_grants";
CREATE VIEW "open_grants" AS
  SELECT "entry_id", "account_id", "amount", "priority", "expires_at", "created_at",
    "remaining" - "reserved" AS "remaining",
    sum("remaining" - "reserved") OVER (
      PARTITION BY "account_id" ORDER BY "priority", "expires_at" NULLS LAST, "created_at", "entry_id"
    )::bigint - ("remaining" - "reserved") AS "before"
  FROM "token_grants" WHERE "remaining" > "reserved";

CREATE FUNCTION "refuse_reserved_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what is reserved of grant % is moved by the holds of it alone', NEW.entry_id
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "token_grants_begin" BEFORE INSERT ON "token_grants" FOR EACH ROW
  WHEN (NEW."reserved" <> 0) EXECUTE FUNCTION "refuse_reserved_change"();
CREATE TRIGGER "token_grants_reserve" BEFORE UPDATE ON "token_grants" FOR EACH ROW
  WHEN (pg_trigger_depth() = 0 AND NEW."reserved" <> OLD."reserved") -- Else it is a trigger of the holds.
  EXECUTE FUNCTION "refuse_reserved_change"();

-- What is reserved moves no balance: its row is not written for it.
DROP TRIGGER "token_grants_count" ON "token_grants";
CREATE TRIGGER "token_grants_count" AFTER INSERT OR UPDATE OF "remaining" OR DELETE ON "token_grants"
  FOR EACH ROW EXECUTE FUNCTION "count_token_grant"();

CREATE OR REPLACE FUNCTION "count_new_token_holds"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances AS b SET held = b.held + n.amount
  FROM (SELECT account_id, sum(amount)::bigint AS amount FROM made GROUP BY account_id) AS n
  WHERE b.account_id = n.account_id;
  IF EXISTS (SELECT FROM made WHERE grant_id IS NOT NULL) THEN -- Hardly ever: the rest is spared the statement.
    UPDATE token_grants AS g SET reserved = g.reserved + n.amount
    FROM (SELECT grant_id, sum(amount)::bigint AS amount FROM made GROUP BY grant_id) AS n
    WHERE g.entry_id = n.grant_id;
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "count_token_hold"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances SET held = held - OLD.amount WHERE account_id = OLD.account_id;
  IF OLD.grant_id IS NOT NULL THEN
    UPDATE token_grants SET reserved = reserved - OLD.amount WHERE entry_id = OLD.grant_id;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER "token_holds_once" ON "token_holds";
CREATE TRIGGER "token_holds_once" BEFORE UPDATE ON "token_holds" FOR EACH ROW
  WHEN (OLD."status" <> 'pending'
    OR (NEW."id", NEW."account_id", NEW."grant_id", NEW."amount", NEW."description", NEW."idempotency_key", NEW."expires_at", NEW."created_at")
      IS DISTINCT FROM
      (OLD."id", OLD."account_id", OLD."grant_id", OLD."amount", OLD."description", OLD."idempotency_key", OLD."expires_at", OLD."created_at"))
  EXECUTE FUNCTION "refuse_hold_change"();

-- What took effect is never undone: rows go only with their whole account.
CREATE TRIGGER "settlements_stay" BEFORE UPDATE OR DELETE ON "settlements"
  FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
CREATE TRIGGER "settlements_no_truncate" BEFORE TRUNCATE ON "settlements"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();
