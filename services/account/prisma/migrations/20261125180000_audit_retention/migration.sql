-- Audit records are kept for a year at least. What is older may be deleted by the owner; nothing may be changed.
CREATE OR REPLACE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD."occurred_at" < now() - interval '365 days' THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END $$;

-- The least UUIDv7 of a moment. The log's ids are in order of time, so its primary key finds what is older.
CREATE FUNCTION "first_uuid_at"("moment" timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM "moment") * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Processes of the service may not delete from the log (ADR 35): this does, with the rights of the owner, who makes it.
-- It deletes records from before a time, at most so many, and returns how many.
CREATE FUNCTION "purge_audit_log"("before" timestamptz, "at_most" integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  "deleted" integer;
BEGIN
  IF "before" > now() - interval '365 days' THEN
    RAISE EXCEPTION 'audit records are kept for 365 days at least' USING ERRCODE = 'restrict_violation';
  END IF;
  DELETE FROM "audit_log" WHERE "id" = ANY (ARRAY(
    SELECT "id" FROM "audit_log"
    WHERE "id" < "first_uuid_at"("before") AND "occurred_at" < "before" ORDER BY "id" LIMIT "at_most"));
  GET DIAGNOSTICS "deleted" = ROW_COUNT;
  RETURN "deleted";
END $$;
