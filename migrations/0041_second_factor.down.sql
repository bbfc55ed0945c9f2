drop function retention_pending_sign_ins;
drop function factors_remove;
drop table pending_sign_ins;
delete from credentials where kind in ('totp', 'recovery_code');
drop index credentials_recovery_codes;
drop index credentials_one_totp;
alter table credentials drop constraint credentials_recovery_code_data, drop constraint credentials_totp_data,
  drop constraint credentials_kind_check, add constraint credentials_kind_check check (kind in ('password'));
