-- The worker reads each job's rows of the outbox by themselves (worker/relay.ts).
create index outbox_due_by_job on outbox (job, redrive_at);

-- The mail of a letter, so that nobody has to take it from the payload. A letter whose payload is damaged is kept, and names none.
alter table dead_letters add column mail_id uuid;
create function dead_letter_names_mail() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.mail_id := case when new.job = 'send-mail' and pg_input_is_valid(new.payload ->> 'mailId', 'uuid') then (new.payload ->> 'mailId')::uuid end;
  return new;
end $$;
create trigger dead_letters_mail_id before insert or update of job, payload on dead_letters
  for each row execute function dead_letter_names_mail();
update dead_letters set payload = payload where job = 'send-mail';
drop index dead_letters_mail;
create index dead_letters_mail on dead_letters (mail_id, failed_at) where mail_id is not null;
