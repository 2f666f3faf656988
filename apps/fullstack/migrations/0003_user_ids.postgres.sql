-- The highest id that was ever given to a user, or taken by one that was refused.
CREATE VIEW user_ids AS SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS highest FROM users_id_seq;
