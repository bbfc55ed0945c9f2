alter table full_checks
  drop column round_reached,
  drop column sliced_at;
