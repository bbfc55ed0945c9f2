alter table auth_sessions drop column received_counter;
