-- A connection keeps the plan of its first call, when the table was small or had no statistics, and then reads all accounts'
-- rows each time.
ALTER FUNCTION estate_room(TEXT, TEXT, INTEGER, INTEGER) SET enable_seqscan = off;
