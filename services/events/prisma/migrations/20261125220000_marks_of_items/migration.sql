-- Whether the whole local day of a mark is to be recomputed, or what its hour touches alone, as for items that came in.
ALTER TABLE "dirty_hours" ADD COLUMN "whole" BOOLEAN NOT NULL DEFAULT true;
