drop index orders_discounted;
