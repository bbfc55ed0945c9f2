drop function retention_put_off_needs;
drop table put_off_needs;
