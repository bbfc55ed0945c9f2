drop index scheduled_grants_next;
