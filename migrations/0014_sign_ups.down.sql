alter table email_links drop column sign_up_id;
