alter table users drop column declined_mails;
