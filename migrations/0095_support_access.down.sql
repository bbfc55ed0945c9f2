drop function retention_support_access;
drop table support_access;
