-- A check of a subscription asks when the next credits of an annual plan come, and a deletion for all of a person's.
create index scheduled_grants_next on scheduled_grants (user_id, due_at);
