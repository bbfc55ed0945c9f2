drop index mails_template, mails_unsent, stripe_events_object;
