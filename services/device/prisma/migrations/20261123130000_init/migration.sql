-- CreateEnum
CREATE TYPE "DeviceStatus" AS ENUM ('manufactured', 'claimed', 'active', 'suspended', 'retired');

-- CreateEnum
CREATE TYPE "RevocationReason" AS ENUM ('key_compromise', 'superseded', 'retired', 'unspecified');

-- CreateEnum
CREATE TYPE "CodeKind" AS ENUM ('screen', 'label');

-- CreateEnum
CREATE TYPE "FaultSeverity" AS ENUM ('info', 'warning', 'error', 'critical');

-- CreateTable
CREATE TABLE "devices" (
    "id" TEXT NOT NULL,
    "serial" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "model" TEXT,
    "hardware_revision" TEXT,
    "firmware_version" TEXT,
    "status" "DeviceStatus" NOT NULL DEFAULT 'manufactured',
    "resumes_as" "DeviceStatus",
    "account_id" TEXT,
    "name" TEXT NOT NULL,
    "desired" JSONB NOT NULL DEFAULT '{}',
    "desired_version" INTEGER NOT NULL DEFAULT 0,
    "heartbeat_interval" INTEGER NOT NULL DEFAULT 60,
    "reported" JSONB NOT NULL DEFAULT '{}',
    "reported_version" INTEGER NOT NULL DEFAULT 0,
    "reported_at" TIMESTAMPTZ(3),
    "report_applied" INTEGER,
    "report_desired" INTEGER,
    "applied_version" INTEGER NOT NULL DEFAULT 0,
    "inventory" JSONB,
    "manifest_version" DOUBLE PRECISION,
    "manifest_delivered" DOUBLE PRECISION,
    "manifest_applied" DOUBLE PRECISION,
    "open_faults" INTEGER NOT NULL DEFAULT 0,
    "certificates_issued" INTEGER NOT NULL DEFAULT 0,
    "claimed_at" TIMESTAMPTZ(3),
    "activated_at" TIMESTAMPTZ(3),
    "suspended_at" TIMESTAMPTZ(3),
    "retired_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device_presence" (
    "device_id" TEXT NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "told_online" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "device_presence_pkey" PRIMARY KEY ("device_id")
);

-- CreateTable
CREATE TABLE "device_certificates" (
    "fingerprint" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "serial" TEXT NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "not_after" TIMESTAMPTZ(3) NOT NULL,
    "renew_after" TIMESTAMPTZ(3) NOT NULL,
    "number" INTEGER NOT NULL,
    "used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revocation_reason" "RevocationReason",

    CONSTRAINT "device_certificates_pkey" PRIMARY KEY ("fingerprint")
);

-- CreateTable
CREATE TABLE "device_nonces" (
    "nonce" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "device_nonces_pkey" PRIMARY KEY ("nonce")
);

-- CreateTable
CREATE TABLE "claim_codes" (
    "device_id" TEXT NOT NULL,
    "kind" "CodeKind" NOT NULL,
    "code_hash" TEXT NOT NULL,
    "code" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "claim_codes_pkey" PRIMARY KEY ("device_id","kind")
);

-- CreateTable
CREATE TABLE "claim_misses" (
    "account_id" TEXT NOT NULL,
    "opened_at" TIMESTAMPTZ(3) NOT NULL,
    "misses" INTEGER NOT NULL,

    CONSTRAINT "claim_misses_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "closed_accounts" (
    "account_id" TEXT NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "closed_accounts_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "device_faults" (
    "account_id" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,
    "code" TEXT NOT NULL,
    "severity" "FaultSeverity" NOT NULL,
    "component" TEXT,
    "detail" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved" BOOLEAN NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "open" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "device_faults_pkey" PRIMARY KEY ("account_id","event_id")
);

-- CreateTable
CREATE TABLE "device_manifests" (
    "device_id" TEXT NOT NULL,
    "version" DOUBLE PRECISION NOT NULL,
    "document" JSONB NOT NULL,

    CONSTRAINT "device_manifests_pkey" PRIMARY KEY ("device_id")
);

-- CreateTable
CREATE TABLE "known_installations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "location_id" TEXT NOT NULL,
    "live" BOOLEAN NOT NULL,
    "aggregate_version" INTEGER NOT NULL,

    CONSTRAINT "known_installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "known_locations" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "group_id" TEXT NOT NULL,
    "aggregate_version" INTEGER NOT NULL,

    CONSTRAINT "known_locations_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "devices_account_id_created_at_id_idx" ON "devices"("account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "devices_serial_idx" ON "devices"("serial");

-- CreateIndex
CREATE INDEX "devices_key_id_idx" ON "devices"("key_id");

-- CreateIndex
CREATE UNIQUE INDEX "device_certificates_device_id_number_key" ON "device_certificates"("device_id", "number");

-- CreateIndex
CREATE INDEX "device_nonces_device_id_idx" ON "device_nonces"("device_id");

-- CreateIndex
CREATE INDEX "device_nonces_expires_at_idx" ON "device_nonces"("expires_at");

-- CreateIndex
CREATE INDEX "claim_codes_code_hash_idx" ON "claim_codes"("code_hash");

-- CreateIndex
CREATE INDEX "device_faults_device_id_occurred_at_event_id_idx" ON "device_faults"("device_id", "occurred_at", "event_id");

-- CreateIndex
CREATE INDEX "device_faults_device_id_code_component_idx" ON "device_faults"("device_id", "code", "component");

-- CreateIndex
CREATE INDEX "known_installations_device_id_idx" ON "known_installations"("device_id");

-- CreateIndex
CREATE INDEX "known_installations_location_id_idx" ON "known_installations"("location_id");

-- CreateIndex
CREATE INDEX "known_locations_group_id_idx" ON "known_locations"("group_id");

-- A retired device leaves its serial and its key to another one.
CREATE UNIQUE INDEX "devices_serial_key" ON "devices"("serial") WHERE "status" <> 'retired';
CREATE UNIQUE INDEX "devices_key_id_key" ON "devices"("key_id") WHERE "status" <> 'retired';

-- Codes that can still be claimed by differ.
CREATE UNIQUE INDEX "claim_codes_alive_key" ON "claim_codes"("code_hash") WHERE "ended_at" IS NULL;

-- What is asked for all the time is a small part of the rows.
CREATE INDEX "device_certificates_live_idx" ON "device_certificates"("device_id") WHERE "revoked_at" IS NULL;
CREATE INDEX "device_presence_online_idx" ON "device_presence"("device_id") WHERE "told_online";
CREATE INDEX "device_faults_open_idx" ON "device_faults"("device_id") WHERE "open";
CREATE UNIQUE INDEX "known_installations_live_key" ON "known_installations"("device_id", "id") WHERE "live";

-- It is updated at nearly each request: there is room for the new row beside the old one.
ALTER TABLE "device_presence" SET (fillfactor = 50);

ALTER TABLE "devices" ADD CONSTRAINT "devices_account" CHECK (
  "status" = 'retired' OR ("status" = 'manufactured') = ("account_id" IS NULL)
);
ALTER TABLE "devices" ADD CONSTRAINT "devices_suspended" CHECK (
  ("status" = 'suspended') = ("resumes_as" IS NOT NULL)
);
ALTER TABLE "devices" ADD CONSTRAINT "devices_applied" CHECK ("applied_version" <= "desired_version");
