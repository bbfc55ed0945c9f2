alter table mails drop column leased_until;
