-- The checks of 0098 were not read over the earlier rows. A table with such a check can't become a partition of another one, and months are one day
-- partitions of generations (decisions 25 and 43). Reading the rows keeps nobody from asking and answering: only other changes of the table wait.
alter table generations
  validate constraint generations_filter_reason,
  validate constraint generations_searches,
  validate constraint generations_thinking_tokens;
