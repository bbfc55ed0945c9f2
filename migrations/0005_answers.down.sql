drop table generation_events, messages, generations, conversations;
