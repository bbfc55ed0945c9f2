-- The panel finds people by the beginning of any word of their name. Each index has, in the order of the alphabet, what follows the first
-- word, the second and so on; `users_name` has the whole name. Most names have two words, so the later indexes are nearly empty. Words
-- after the sixth are not found.
create index users_name_from_2 on users ((substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){1}([^\s-].*)$')) text_pattern_ops)
  where substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){1}([^\s-].*)$') is not null;
create index users_name_from_3 on users ((substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){2}([^\s-].*)$')) text_pattern_ops)
  where substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){2}([^\s-].*)$') is not null;
create index users_name_from_4 on users ((substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){3}([^\s-].*)$')) text_pattern_ops)
  where substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){3}([^\s-].*)$') is not null;
create index users_name_from_5 on users ((substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){4}([^\s-].*)$')) text_pattern_ops)
  where substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){4}([^\s-].*)$') is not null;
create index users_name_from_6 on users ((substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){5}([^\s-].*)$')) text_pattern_ops)
  where substring(lower(name) from '^[\s-]*(?:[^\s-]+[\s-]+){5}([^\s-].*)$') is not null;
-- What the team did to one failed job.
create index audit_events_letter on audit_events ((details ->> 'deadLetterId'), id)
  where action in ('dead_letter.replayed', 'dead_letter.discarded');
