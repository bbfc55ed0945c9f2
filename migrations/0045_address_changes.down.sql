drop function undo_ways_in;
delete from email_links where address is not null;
drop index email_links_address;
alter table email_links drop constraint email_links_address, drop column address;
