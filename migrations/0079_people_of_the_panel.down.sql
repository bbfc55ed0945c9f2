drop index users_created;
drop index users_name;
drop index users_banned;
drop index identities_email;
