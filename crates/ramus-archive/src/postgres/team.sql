-- Rights of a team. Row security is the only access control: a person is the role that logs in.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['machines', 'shares', 'files', 'generations', 'chunks', 'pieces',
        'derived', 'filters'] LOOP
        EXECUTE format('ALTER TABLE ramus.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE ramus.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('DROP POLICY IF EXISTS own ON ramus.%I', name);
        EXECUTE format('CREATE POLICY own ON ramus.%I USING (owner = current_user) '
            'WITH CHECK (owner = current_user)', name);
    END LOOP;
END
$$;

-- What somebody shares can be read by the team. The conditions look only at rows that the reader may see, so each
-- table follows the one before it: shares, files, generations, pieces, chunks.
DROP POLICY IF EXISTS listed ON ramus.shares;
CREATE POLICY listed ON ramus.shares FOR SELECT USING (true);
DROP POLICY IF EXISTS shared ON ramus.files;
CREATE POLICY shared ON ramus.files FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.shares s WHERE s.owner = files.owner AND s.project = files.project));
DROP POLICY IF EXISTS shared ON ramus.machines;
CREATE POLICY shared ON ramus.machines FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.files f WHERE f.owner = machines.owner AND f.machine = machines.machine));
DROP POLICY IF EXISTS shared ON ramus.generations;
CREATE POLICY shared ON ramus.generations FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.files f WHERE f.owner = generations.owner AND f.file = generations.file));
DROP POLICY IF EXISTS shared ON ramus.pieces;
CREATE POLICY shared ON ramus.pieces FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.files f WHERE f.owner = pieces.owner AND f.file = pieces.file));
DROP POLICY IF EXISTS shared ON ramus.chunks;
CREATE POLICY shared ON ramus.chunks FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.pieces p WHERE p.owner = chunks.owner AND p.hash = chunks.hash));
DROP POLICY IF EXISTS shared ON ramus.derived;
CREATE POLICY shared ON ramus.derived FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.files f WHERE f.owner = derived.owner AND f.file = derived.file));
DROP POLICY IF EXISTS shared ON ramus.filters;
CREATE POLICY shared ON ramus.filters FOR SELECT USING (EXISTS (
    SELECT 1 FROM ramus.files f WHERE f.owner = filters.owner AND f.file = filters.file));

-- The version is readable by everybody in the team.
REVOKE ALL ON SCHEMA ramus FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA ramus FROM PUBLIC;
GRANT USAGE ON SCHEMA ramus TO ramus_member, ramus_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA ramus TO ramus_member, ramus_reader;
GRANT INSERT, UPDATE, DELETE ON ramus.machines, ramus.shares, ramus.files, ramus.generations, ramus.chunks,
    ramus.pieces, ramus.derived, ramus.filters TO ramus_member;
