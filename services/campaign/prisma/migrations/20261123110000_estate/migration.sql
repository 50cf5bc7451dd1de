-- CreateTable
CREATE TABLE "known_locations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL,
    "group_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "timezone" TEXT NOT NULL,
    "status" TEXT NOT NULL,

    CONSTRAINT "known_locations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_screens" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL,
    "location_id" TEXT NOT NULL,
    "zone_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "tags" TEXT[],
    "width_px" INTEGER NOT NULL,
    "height_px" INTEGER NOT NULL,
    "accepted_formats" TEXT[],
    "audio" BOOLEAN NOT NULL,

    CONSTRAINT "known_screens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_installations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL,
    "location_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "live" BOOLEAN NOT NULL,
    "installed_at" TIMESTAMPTZ(3) NOT NULL,
    "outputs" JSONB NOT NULL,
    "screen_ids" TEXT[],

    CONSTRAINT "known_installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_devices" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "named_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_devices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "changed_screens" (
    "sequence" BIGSERIAL NOT NULL,
    "account_id" TEXT NOT NULL,
    "screen_id" TEXT NOT NULL,

    CONSTRAINT "changed_screens_pkey" PRIMARY KEY ("sequence")
);

-- CreateIndex
CREATE INDEX "known_locations_account_id_group_id_idx" ON "known_locations"("account_id", "group_id");

-- CreateIndex
CREATE INDEX "known_screens_account_id_location_id_idx" ON "known_screens"("account_id", "location_id");

-- CreateIndex
CREATE INDEX "known_screens_location_id_idx" ON "known_screens"("location_id");

-- CreateIndex
CREATE INDEX "known_installations_account_id_live_idx" ON "known_installations"("account_id", "live");

-- CreateIndex
CREATE INDEX "known_installations_device_id_idx" ON "known_installations"("device_id");

-- CreateIndex
CREATE INDEX "known_installations_location_id_idx" ON "known_installations"("location_id");

-- What a schema file cannot say.

-- Appends to changed_screens what decides where campaigns are placed: a screen's account, location and tags, and its location's group.
-- Rows are only ever appended, so that a change and a reader that deletes an older row of the same screen do not wait for each other.

CREATE FUNCTION "note_screens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_screens (account_id, screen_id) SELECT account_id, id FROM changed;
  RETURN NULL;
END $$;

CREATE FUNCTION "note_changed_screens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_screens (account_id, screen_id)
  SELECT a.account_id, a.id FROM changed AS a JOIN before AS b USING (id)
  WHERE (a.account_id, a.location_id, a.tags) IS DISTINCT FROM (b.account_id, b.location_id, b.tags);
  RETURN NULL;
END $$;

CREATE FUNCTION "note_screens_of_locations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_screens (account_id, screen_id)
  SELECT s.account_id, s.id FROM known_screens AS s WHERE s.location_id IN (SELECT id FROM changed);
  RETURN NULL;
END $$;

CREATE FUNCTION "note_screens_of_moved_locations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_screens (account_id, screen_id)
  SELECT s.account_id, s.id FROM known_screens AS s WHERE s.location_id IN (
    SELECT a.id FROM changed AS a JOIN before AS b USING (id) WHERE a.group_id <> b.group_id);
  RETURN NULL;
END $$;

CREATE TRIGGER "known_screens_new" AFTER INSERT ON "known_screens" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_screens"();
CREATE TRIGGER "known_screens_changed" AFTER UPDATE ON "known_screens" REFERENCING NEW TABLE AS changed OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_screens"();
CREATE TRIGGER "known_screens_gone" AFTER DELETE ON "known_screens" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_screens"();
CREATE TRIGGER "known_locations_new" AFTER INSERT ON "known_locations" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_screens_of_locations"();
CREATE TRIGGER "known_locations_moved" AFTER UPDATE ON "known_locations" REFERENCING NEW TABLE AS changed OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION "note_screens_of_moved_locations"();
CREATE TRIGGER "known_locations_gone" AFTER DELETE ON "known_locations" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_screens_of_locations"();
