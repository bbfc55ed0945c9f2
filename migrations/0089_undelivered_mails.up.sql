-- The panel lists mails that were given up, also those that somebody has dealt with.
create index dead_letters_mails on dead_letters (failed_at, id) where job = 'send-mail';
