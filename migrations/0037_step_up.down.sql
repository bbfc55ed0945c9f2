delete from email_links where purpose not in ('confirm', 'recover');
alter table email_links drop constraint email_links_purpose_check,
  add constraint email_links_purpose_check check (purpose in ('confirm', 'recover'));
alter table auth_sessions drop column proved_at;
