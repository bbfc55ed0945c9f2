drop table auth_attempts, email_links, auth_sessions, users;
