drop index dead_letters_mails;
