drop function google_unlink;
drop function retention_google_answers;
drop table google_answers;

-- Who has no password gets one by mail.
delete from identities where kind = 'google';
alter table identities
  drop constraint identities_google_shown,
  drop column shown_as,
  drop constraint identities_kind_check,
  add constraint identities_kind_check check (kind in ('email'));
