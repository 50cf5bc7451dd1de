-- CreateTable
CREATE TABLE "visit_facts" (
    "account_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "event_id" UUID NOT NULL,
    "hour" SMALLINT NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "entered_at" TIMESTAMPTZ(3) NOT NULL,
    "left_at" TIMESTAMPTZ(3) NOT NULL,
    "dwell_ms" INTEGER NOT NULL,

    CONSTRAINT "visit_facts_pkey" PRIMARY KEY ("account_id","location_id","date","event_id")
);

-- CreateTable
CREATE TABLE "dwell_facts" (
    "account_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "event_id" UUID NOT NULL,
    "zone_id" TEXT NOT NULL,
    "entered_at" TIMESTAMPTZ(3) NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "dwell_ms" INTEGER NOT NULL,

    CONSTRAINT "dwell_facts_pkey" PRIMARY KEY ("account_id","location_id","date","event_id","zone_id","entered_at")
);

-- CreateTable
CREATE TABLE "exposure_facts" (
    "account_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "event_id" UUID NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "first_date" DATE NOT NULL,
    "first_hour" SMALLINT NOT NULL,
    "exposure_ms" INTEGER NOT NULL,

    CONSTRAINT "exposure_facts_pkey" PRIMARY KEY ("account_id","location_id","date","event_id","campaign_id")
);

-- CreateTable
CREATE TABLE "meeting_facts" (
    "account_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "event_id" UUID NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "held" BOOLEAN NOT NULL,
    "met_date" DATE NOT NULL,
    "met_hour" SMALLINT NOT NULL,
    "visitor_key" TEXT NOT NULL,
    "first_at" TIMESTAMPTZ(3) NOT NULL,
    "pairs" INTEGER NOT NULL,

    CONSTRAINT "meeting_facts_pkey" PRIMARY KEY ("account_id","location_id","date","event_id","campaign_id","held","met_date","met_hour")
);

-- CreateTable
CREATE TABLE "play_hours" (
    "account_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "hour" SMALLINT NOT NULL,
    "campaign_id" TEXT NOT NULL,
    "screen_id" TEXT NOT NULL,
    "plays" INTEGER NOT NULL,
    "completed_plays" INTEGER NOT NULL,
    "play_ms" BIGINT NOT NULL,
    "held_plays" INTEGER NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "play_hours_pkey" PRIMARY KEY ("account_id","location_id","date","hour","campaign_id","screen_id")
);

-- CreateIndex
CREATE INDEX "visit_facts_account_id_visitor_key_entered_at_idx" ON "visit_facts"("account_id", "visitor_key", "entered_at");

-- CreateIndex
CREATE INDEX "exposure_facts_account_id_campaign_id_first_date_idx" ON "exposure_facts"("account_id", "campaign_id", "first_date");

-- CreateIndex
CREATE INDEX "meeting_facts_account_id_campaign_id_met_date_idx" ON "meeting_facts"("account_id", "campaign_id", "met_date");

-- CreateIndex
CREATE INDEX "play_hours_account_id_campaign_id_date_idx" ON "play_hours"("account_id", "campaign_id", "date");

-- When a location moves to another time zone, its items move to other days: those around each of them are recomputed, which
-- also empties the days that they leave.
CREATE FUNCTION mark_moved_location() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
  SELECT DISTINCT NEW.account_id, NEW.id, date_trunc('hour', item.at, 'UTC') + around, now()
  FROM (
    SELECT entered_at AS at FROM visits WHERE account_id = NEW.account_id AND location_id = NEW.id
    UNION SELECT started_at FROM plays WHERE account_id = NEW.account_id AND location_id = NEW.id
  ) AS item, unnest(ARRAY['-26 h', '-22 h', '0 h', '22 h', '26 h']::interval[]) AS around
  WHERE item.at IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER known_locations_moved AFTER UPDATE OF timezone ON known_locations
  FOR EACH ROW WHEN (OLD.timezone <> NEW.timezone) EXECUTE FUNCTION mark_moved_location();
