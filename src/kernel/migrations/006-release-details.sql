ALTER TABLE releases ADD COLUMN env_names TEXT;
ALTER TABLE releases ADD COLUMN build TEXT;
