-- A confirmation link carries the password of the sign-up it was mailed for: whoever opens it gets their own, not that of
-- somebody who signed up with the same address. Null: the link proves the mailbox and sets no password.
alter table email_links add column password_hash text;
