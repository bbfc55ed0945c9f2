-- The files would be known to nobody: their jobs stay in the outbox until a release that knows them runs.
delete from data_exports;
drop function retention_exports(integer, text), retention_export_files(integer, text);
drop table data_exports;
drop function data_exports_delete_file();
