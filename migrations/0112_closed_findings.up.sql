-- What somebody of the team has closed, the latest first: it can be opened again.
create index findings_closed on findings (resolved_at, id) where resolved_by = 'person';
