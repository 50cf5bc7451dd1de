-- The platform's own id of the request, beside the one that the client may have chosen. Older records have none.
ALTER TABLE "audit_log" ADD COLUMN "platform_request_id" UUID;
