-- Which objects of Stripe's we follow, and how often what was read of them has been written. Stripe is asked outside of any
-- transaction; what it answered is written only if the version is still the one from before the question, so that an answer
-- that was long on its way never overwrites a newer one.
create table stripe_objects (
  id text primary key,
  version bigint not null check (version > 0),
  -- Of a subscription: which other one of the same person it doubles. Written before it is ended and refunded at Stripe, so that an
  -- interrupted try is taken up again and nobody decides otherwise meanwhile.
  duplicate_of text
);
