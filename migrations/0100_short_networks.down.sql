create or replace function audit_record(p_actor uuid, p_subject uuid, p_action text, p_network text, p_details jsonb)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_event uuid;
begin
  insert into audit_events (actor, subject, action, details)
    values (audit_person(p_actor), audit_person(p_subject), p_action, p_details) returning id into v_event;
  if p_network is not null and coalesce(p_actor, p_subject) is not null then
    insert into audit_origins (event_id, user_id, network) values (v_event, coalesce(p_actor, p_subject), p_network);
  end if;
end $$;

create or replace function audit_record(p_actor uuid, p_subject uuid, p_action text, p_network text, p_details jsonb, p_reason text)
returns void language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_event uuid;
begin
  insert into audit_events (actor, subject, action, details)
    values (audit_person(p_actor), audit_person(p_subject), p_action, p_details) returning id into v_event;
  if p_network is not null and coalesce(p_actor, p_subject) is not null then
    insert into audit_origins (event_id, user_id, network) values (v_event, coalesce(p_actor, p_subject), p_network);
  end if;
  insert into audit_reasons (event_id, user_id, reason) values (v_event, p_subject, p_reason);
end $$;

drop function network_short;
