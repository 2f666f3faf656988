-- The highest id that was ever given to a user.
CREATE VIEW user_ids AS SELECT coalesce(max(seq), 0) AS highest FROM sqlite_sequence WHERE name = 'users';
