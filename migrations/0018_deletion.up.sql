-- What a person deletes is unreadable at once. An answer's text stands in its conversation; without one, what is left of the
-- answer is its receipt: `generations.conversation_id is null` says that its text was deleted.
create index generations_conversation on generations (conversation_id) where conversation_id is not null;

-- Whatever deletes a conversation, the person or the end of their account, deletes the log of its answers with it, and the
-- fingerprint of what was asked. An answer still under way is stopped by the one who writes it. SECURITY DEFINER, since the
-- application's role may not delete from the log itself.
create function conversation_erase_answers() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from generation_events e using generations g where g.conversation_id = old.id and e.generation_id = g.id;
  update generations g set conversation_id = null, request_hash = '',
      stop_requested_at = case when g.status = 'streaming' then coalesce(g.stop_requested_at, clock_timestamp()) else g.stop_requested_at end
    where g.conversation_id = old.id;
  return old;
end $$;
create trigger conversations_erase_answers before delete on conversations
  for each row execute function conversation_erase_answers();

-- The last words of an answer that ends after its conversation.
create function generation_erase_log() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from generation_events where generation_id = new.id;
  return null;
end $$;
create trigger generations_erase_log after update of status on generations for each row
  when (old.status = 'streaming' and new.status <> 'streaming' and new.conversation_id is null)
  execute function generation_erase_log();

-- Those deleted before this.
delete from generation_events e using generations g where g.id = e.generation_id and g.conversation_id is null and g.status <> 'streaming';
update generations set request_hash = '' where conversation_id is null;
