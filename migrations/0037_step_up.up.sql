-- When the person last showed a factor in this sign-in. Dangerous acts need a recent one (server/features/auth/step-up.ts).
alter table auth_sessions add column proved_at timestamptz;
update auth_sessions set proved_at = created_at;
alter table auth_sessions alter column proved_at set default now(), alter column proved_at set not null;

alter table email_links drop constraint email_links_purpose_check,
  add constraint email_links_purpose_check check (purpose in ('confirm', 'recover', 'change-email', 'undo-email', 'reset-factors'));
