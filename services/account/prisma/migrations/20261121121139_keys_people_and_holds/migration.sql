-- CreateEnum
CREATE TYPE "HoldStatus" AS ENUM ('pending', 'captured', 'voided', 'expired');

-- CreateEnum
CREATE TYPE "ApiKeyRole" AS ENUM ('viewer', 'member', 'admin');

-- CreateEnum
CREATE TYPE "ApiKeyType" AS ENUM ('api', 'sim', 'production');

-- CreateEnum
CREATE TYPE "AuditOutcome" AS ENUM ('done', 'refused');

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "account_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "answer" JSON,
    "resource_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("account_id","operation","key")
);

-- CreateTable
CREATE TABLE "token_holds" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "captured_amount" BIGINT NOT NULL DEFAULT 0,
    "status" "HoldStatus" NOT NULL DEFAULT 'pending',
    "description" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "token_holds_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "invitations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_key" TEXT NOT NULL,
    "role" "MembershipRole" NOT NULL,
    "group_scope" "GroupScope" NOT NULL DEFAULT 'all',
    "groups" JSONB NOT NULL,
    "services" JSONB,
    "billing" BOOLEAN NOT NULL DEFAULT false,
    "token_hash" TEXT NOT NULL,
    "invited_by" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "accepted_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mfa_enrolments" (
    "user_id" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3),
    "last_step" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mfa_enrolments_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "mfa_recovery_codes" (
    "id" BIGSERIAL NOT NULL,
    "user_id" TEXT NOT NULL,
    "code_hash" TEXT NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "mfa_recovery_codes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "mfa_challenges" (
    "id" UUID NOT NULL,
    "user_id" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mfa_challenges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "access_key_id" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "role" "ApiKeyRole" NOT NULL,
    "type" "ApiKeyType" NOT NULL DEFAULT 'api',
    "readonly" BOOLEAN NOT NULL,
    "group_scope" "GroupScope" NOT NULL DEFAULT 'all',
    "created_by" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "rotated_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key_grants" (
    "api_key_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "role" "GroupGrantRole" NOT NULL,

    CONSTRAINT "api_key_grants_pkey" PRIMARY KEY ("api_key_id","group_id")
);

-- CreateTable
CREATE TABLE "known_groups" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,

    CONSTRAINT "known_groups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_log" (
    "id" UUID NOT NULL,
    "account_id" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "action" TEXT NOT NULL,
    "outcome" "AuditOutcome" NOT NULL,
    "actor_type" TEXT NOT NULL,
    "actor_id" TEXT,
    "subject_type" TEXT,
    "subject_id" TEXT,
    "ip" TEXT,
    "user_agent" TEXT,
    "request_id" TEXT,
    "details" JSONB NOT NULL,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "token_holds_account_id_idempotency_key_key" ON "token_holds"("account_id", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations"("token_hash");

-- CreateIndex
CREATE INDEX "invitations_account_id_id_idx" ON "invitations"("account_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "mfa_recovery_codes_user_id_code_hash_key" ON "mfa_recovery_codes"("user_id", "code_hash");

-- CreateIndex
CREATE INDEX "mfa_challenges_expires_at_idx" ON "mfa_challenges"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_access_key_id_key" ON "api_keys"("access_key_id");

-- CreateIndex
CREATE INDEX "api_keys_account_id_id_idx" ON "api_keys"("account_id", "id");

-- CreateIndex
CREATE INDEX "known_groups_account_id_idx" ON "known_groups"("account_id");

-- CreateIndex
CREATE INDEX "audit_log_account_id_id_idx" ON "audit_log"("account_id", "id");

-- CreateIndex
CREATE INDEX "audit_log_account_id_action_id_idx" ON "audit_log"("account_id", "action", "id");

-- CreateIndex
CREATE INDEX "audit_log_account_id_actor_id_id_idx" ON "audit_log"("account_id", "actor_id", "id");

-- DropIndex
DROP INDEX "memberships_account_id_idx";

-- CreateIndex
CREATE INDEX "memberships_account_id_user_id_idx" ON "memberships"("account_id", "user_id");

-- AddForeignKey
ALTER TABLE "token_holds" ADD CONSTRAINT "token_holds_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "balances"("account_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mfa_enrolments" ADD CONSTRAINT "mfa_enrolments_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mfa_recovery_codes" ADD CONSTRAINT "mfa_recovery_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key_grants" ADD CONSTRAINT "api_key_grants_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_keys"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What a schema file cannot say.

-- One pending invitation an address and account.
CREATE UNIQUE INDEX "invitations_pending_key" ON "invitations" ("account_id", "email_key") WHERE "accepted_at" IS NULL;

-- One live internal key of each type an account (decision 28).
CREATE UNIQUE INDEX "api_keys_internal_key" ON "api_keys" ("account_id", "type")
  WHERE "type" <> 'api' AND "revoked_at" IS NULL AND "rotated_at" IS NULL;

ALTER TABLE "api_keys"
  ADD CONSTRAINT "api_keys_viewer_check" CHECK ("role" <> 'viewer' OR "readonly");

ALTER TABLE "token_holds"
  ADD CONSTRAINT "token_holds_amount_check" CHECK ("amount" > 0),
  ADD CONSTRAINT "token_holds_captured_check" CHECK ("captured_amount" BETWEEN 0 AND "amount"),
  ADD CONSTRAINT "token_holds_status_check" CHECK (
    ("status" = 'pending') = ("resolved_at" IS NULL) AND ("status" = 'captured' OR "captured_amount" = 0)
  );

ALTER TABLE "mfa_challenges" ADD CONSTRAINT "mfa_challenges_attempts_check" CHECK ("attempts" >= 0);

CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "audit_log_append_only" BEFORE UPDATE OR DELETE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "refuse_audit_change"();
CREATE TRIGGER "audit_log_no_truncate" BEFORE TRUNCATE ON "audit_log"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_audit_change"();

-- The token ledger keeps its own promises: rows move the balance, and nothing else does.
--   posted  = the sum of the entries, numbered without a gap
--   unspent = the sum of what is left of the grants = posted
--   held    = the sum of the pending holds; posted - held is never negative
ALTER TABLE "balances" ADD COLUMN "unspent" BIGINT NOT NULL DEFAULT 0;
UPDATE "balances" AS b SET "unspent" = (
  SELECT coalesce(sum("remaining"), 0) FROM "token_grants" AS g WHERE g."account_id" = b."account_id"
);
CREATE INDEX "token_grants_due_idx" ON "token_grants" ("expires_at") WHERE "remaining" > 0 AND "expires_at" IS NOT NULL;
CREATE INDEX "token_holds_due_idx" ON "token_holds" ("expires_at") WHERE "status" = 'pending';

-- Grants with something left; `before` is what burns before it: the order of priority, then expiry, then age.
CREATE VIEW "open_grants" AS
  SELECT *, sum("remaining") OVER (
    PARTITION BY "account_id" ORDER BY "priority", "expires_at" NULLS LAST, "created_at", "entry_id"
  )::bigint - "remaining" AS "before"
  FROM "token_grants" WHERE "remaining" > 0;

-- What a row must be is said in WHEN: rows that are right, all there are, call no function.
CREATE FUNCTION "refuse_balance_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a balance is moved by its ledger entries, grants and holds alone' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "balances_begin" BEFORE INSERT ON "balances" FOR EACH ROW
  WHEN ((NEW."posted", NEW."held", NEW."unspent", NEW."last_seq") <> (0, 0, 0, 0))
  EXECUTE FUNCTION "refuse_balance_change"();
CREATE TRIGGER "balances_guard" BEFORE UPDATE ON "balances" FOR EACH ROW
  WHEN (pg_trigger_depth() = 0) -- Else it is a trigger of the rows that move it.
  EXECUTE FUNCTION "refuse_balance_change"();

CREATE FUNCTION "post_ledger_entry"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances SET posted = NEW.balance_after, last_seq = NEW.seq
  WHERE account_id = NEW.account_id AND last_seq = NEW.seq - 1 AND posted + NEW.amount = NEW.balance_after;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'ledger entry % does not follow from the balance', NEW.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "ledger_entries_post" AFTER INSERT ON "ledger_entries"
  FOR EACH ROW EXECUTE FUNCTION "post_ledger_entry"();

CREATE FUNCTION "count_token_grant"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances SET unspent = unspent + coalesce(NEW.remaining, 0) - coalesce(OLD.remaining, 0)
  WHERE account_id = coalesce(NEW.account_id, OLD.account_id);
  RETURN NULL;
END $$;
CREATE TRIGGER "token_grants_count" AFTER INSERT OR UPDATE OR DELETE ON "token_grants"
  FOR EACH ROW EXECUTE FUNCTION "count_token_grant"();

CREATE FUNCTION "refuse_grant_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'of grant % nothing changes but that less is left', OLD.entry_id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "token_grants_burn" BEFORE UPDATE ON "token_grants" FOR EACH ROW
  WHEN (NEW."remaining" > OLD."remaining"
    OR (NEW."entry_id", NEW."account_id", NEW."amount", NEW."priority", NEW."expires_at", NEW."created_at")
      IS DISTINCT FROM (OLD."entry_id", OLD."account_id", OLD."amount", OLD."priority", OLD."expires_at", OLD."created_at"))
  EXECUTE FUNCTION "refuse_grant_change"();

-- Holds begin pending, many in one statement: then each balance is written once.
CREATE FUNCTION "count_new_token_holds"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances AS b SET held = b.held + n.amount
  FROM (SELECT account_id, sum(amount)::bigint AS amount FROM made GROUP BY account_id) AS n
  WHERE b.account_id = n.account_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "token_holds_count_new" AFTER INSERT ON "token_holds" REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION "count_new_token_holds"();

CREATE FUNCTION "count_token_hold"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE balances SET held = held - OLD.amount WHERE account_id = OLD.account_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "token_holds_count_resolved" AFTER UPDATE ON "token_holds" FOR EACH ROW
  WHEN (OLD."status" = 'pending' AND NEW."status" <> 'pending') EXECUTE FUNCTION "count_token_hold"();
CREATE TRIGGER "token_holds_count_gone" AFTER DELETE ON "token_holds" FOR EACH ROW
  WHEN (OLD."status" = 'pending') EXECUTE FUNCTION "count_token_hold"();

CREATE FUNCTION "refuse_hold_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'hold % begins pending, is resolved once, and is never another', NEW.id USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "token_holds_begin" BEFORE INSERT ON "token_holds" FOR EACH ROW
  WHEN (NEW."status" <> 'pending') EXECUTE FUNCTION "refuse_hold_change"();
CREATE TRIGGER "token_holds_once" BEFORE UPDATE ON "token_holds" FOR EACH ROW
  WHEN (OLD."status" <> 'pending'
    OR (NEW."id", NEW."account_id", NEW."amount", NEW."description", NEW."idempotency_key", NEW."expires_at", NEW."created_at")
      IS DISTINCT FROM
      (OLD."id", OLD."account_id", OLD."amount", OLD."description", OLD."idempotency_key", OLD."expires_at", OLD."created_at"))
  EXECUTE FUNCTION "refuse_hold_change"();

-- Grants and holds go only with their whole account, as entries do.
CREATE TRIGGER "token_grants_stay" BEFORE DELETE ON "token_grants"
  FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
CREATE TRIGGER "token_grants_no_truncate" BEFORE TRUNCATE ON "token_grants"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();
CREATE TRIGGER "token_holds_stay" BEFORE DELETE ON "token_holds"
  FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
CREATE TRIGGER "token_holds_no_truncate" BEFORE TRUNCATE ON "token_holds"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();

CREATE FUNCTION "check_balance"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  b balances;
BEGIN
  SELECT * INTO b FROM balances WHERE account_id = NEW.account_id;
  IF b.posted <> b.unspent THEN
    RAISE EXCEPTION 'account % has % tokens posted, and % unspent', b.account_id, b.posted, b.unspent
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "balances_agree" AFTER INSERT OR UPDATE OF "posted", "unspent" ON "balances"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_balance"();
