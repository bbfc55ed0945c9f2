alter table data_exports drop column by_team;
