-- CreateTable
CREATE TABLE "device_manifests" (
    "device_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "changes_at" TIMESTAMPTZ(3),

    CONSTRAINT "device_manifests_pkey" PRIMARY KEY ("device_id")
);

-- CreateTable
CREATE TABLE "changed_devices" (
    "sequence" BIGSERIAL NOT NULL,
    "device_id" TEXT NOT NULL,

    CONSTRAINT "changed_devices_pkey" PRIMARY KEY ("sequence")
);

-- CreateTable
CREATE TABLE "changed_campaigns" (
    "sequence" BIGSERIAL NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "changed_campaigns_pkey" PRIMARY KEY ("sequence")
);

-- CreateIndex
CREATE INDEX "device_manifests_changes_at_idx" ON "device_manifests"("changes_at");

-- What a schema file cannot say.

-- Appends to changed_devices and changed_campaigns what manifests are made of. As with changed_screens, rows are only ever appended.

CREATE FUNCTION "note_devices"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id) SELECT id FROM changed;
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_installations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id) SELECT DISTINCT device_id FROM changed;
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_changed_installations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT d.device_id FROM changed AS a JOIN before AS b USING (id), LATERAL (VALUES (a.device_id), (b.device_id)) AS d(device_id)
  WHERE (a.device_id, a.location_id, a.live, a.installed_at, a.outputs) IS DISTINCT FROM (b.device_id, b.location_id, b.live, b.installed_at, b.outputs);
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_locations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS c JOIN known_installations AS i ON i.location_id = c.id AND i.live;
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_changed_locations"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS a JOIN before AS b USING (id)
  JOIN known_installations AS i ON i.location_id = a.id AND i.live WHERE a.timezone <> b.timezone;
  RETURN NULL;
END $$;

-- A screen and its installation are at the same location. Where one has moved and the other not yet, the other is a change of its own.
CREATE FUNCTION "note_devices_of_screens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS c
  JOIN known_installations AS i ON i.location_id = c.location_id AND i.live AND c.id = ANY(i.screen_ids);
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_changed_screens"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS a JOIN before AS b USING (id)
  JOIN known_installations AS i ON i.location_id = a.location_id AND i.live AND a.id = ANY(i.screen_ids)
  WHERE (a.width_px, a.height_px) <> (b.width_px, b.height_px);
  RETURN NULL;
END $$;

-- Of placements, only those that a change of the estate opened or closed: the others come with a version.
CREATE FUNCTION "note_devices_of_new_placements"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS c
  JOIN campaign_versions AS v ON v.campaign_id = c.campaign_id AND v.version = c.version AND v.published_at <> c.valid_from
  JOIN known_installations AS i ON i.location_id = c.location_id AND i.live AND c.screen_id = ANY(i.screen_ids);
  RETURN NULL;
END $$;

CREATE FUNCTION "note_devices_of_closed_placements"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_devices (device_id)
  SELECT DISTINCT i.device_id FROM changed AS c
  JOIN known_installations AS i ON i.location_id = c.location_id AND i.live AND c.screen_id = ANY(i.screen_ids)
  WHERE c.closed_by NOT IN ('publish', 'archive');
  RETURN NULL;
END $$;

CREATE FUNCTION "note_campaigns"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO changed_campaigns (campaign_id, at)
  SELECT campaign_id, min(coalesce(ended_at, published_at)) FROM changed GROUP BY campaign_id;
  RETURN NULL;
END $$;

CREATE TRIGGER "known_devices_new" AFTER INSERT ON "known_devices" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices"();
CREATE TRIGGER "known_installations_new" AFTER INSERT ON "known_installations" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_installations"();
CREATE TRIGGER "known_installations_changed" AFTER UPDATE ON "known_installations" REFERENCING NEW TABLE AS changed OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_changed_installations"();
CREATE TRIGGER "known_installations_gone" AFTER DELETE ON "known_installations" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_installations"();
CREATE TRIGGER "known_locations_new_devices" AFTER INSERT ON "known_locations" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_locations"();
CREATE TRIGGER "known_locations_changed_devices" AFTER UPDATE ON "known_locations" REFERENCING NEW TABLE AS changed OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_changed_locations"();
CREATE TRIGGER "known_screens_new_devices" AFTER INSERT ON "known_screens" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_screens"();
CREATE TRIGGER "known_screens_changed_devices" AFTER UPDATE ON "known_screens" REFERENCING NEW TABLE AS changed OLD TABLE AS before
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_changed_screens"();
CREATE TRIGGER "known_screens_gone_devices" AFTER DELETE ON "known_screens" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_screens"();
CREATE TRIGGER "placements_new_devices" AFTER INSERT ON "placements" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_new_placements"();
CREATE TRIGGER "placements_closed_devices" AFTER UPDATE ON "placements" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_devices_of_closed_placements"();
CREATE TRIGGER "campaign_versions_new" AFTER INSERT ON "campaign_versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_campaigns"();
CREATE TRIGGER "campaign_versions_changed" AFTER UPDATE ON "campaign_versions" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "note_campaigns"();
