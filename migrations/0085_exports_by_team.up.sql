-- Somebody of the team had it made, for a person who asked by mail: its mail says so.
alter table data_exports add column by_team boolean not null default false;
