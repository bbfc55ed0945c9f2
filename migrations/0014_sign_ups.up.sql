-- A sign-up is what its mails share: the same password, begun in one browser. A link mailed again belongs to the same one.
alter table email_links add column sign_up_id uuid not null default uuidv7();
-- A link without a password proved the mailbox to whoever opened it. Links are opened with the password now, or in the
-- browser that signed up: nothing could open these.
delete from email_links where purpose = 'confirm' and password_hash is null and used_at is null;
