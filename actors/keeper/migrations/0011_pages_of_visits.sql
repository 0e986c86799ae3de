-- The pages that were read are indexed from the lines of PAGE_VISITS: whatever was made of other lines is made anew.
DELETE FROM search_terms WHERE rowid IN (SELECT id FROM passages WHERE kind = 'page');
DELETE FROM passages WHERE kind = 'page';
DELETE FROM positions WHERE journal IN ('pages-read', 'page-visits');
