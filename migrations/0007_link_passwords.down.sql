alter table email_links drop column password_hash;
