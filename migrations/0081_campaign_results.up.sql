-- What a campaign brought: the orders with a discount that led to a contract, by when they were agreed to.
create index orders_discounted on orders (consented_at) where concluded_at is not null and amount_cents < later_cents;
