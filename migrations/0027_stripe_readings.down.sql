drop table stripe_objects;
