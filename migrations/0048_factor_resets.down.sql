drop function retention_factor_resets;
drop table factor_resets;
delete from email_links where purpose = 'reset-factors';
