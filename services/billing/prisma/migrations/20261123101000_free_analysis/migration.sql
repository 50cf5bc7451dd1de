-- Processing a media file costs no tokens.
DELETE FROM "usage_prices" WHERE "action" = 'analyze_media';
