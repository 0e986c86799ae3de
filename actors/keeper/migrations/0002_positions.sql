-- The file has tables of several journals now, and what follows them keeps how far each of them is.
INSERT INTO positions SELECT 'ledger', applied, line, written_at FROM place;
DROP TABLE place;
