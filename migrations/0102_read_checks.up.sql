-- 0098 added its checks as `not valid`. A table with such a check can't become a partition of another one, and generations is to be
-- partitioned by month one day (decisions 25 and 43). Validating blocks no question or answer: only other changes of the table wait.
alter table generations
  validate constraint generations_filter_reason,
  validate constraint generations_searches,
  validate constraint generations_thinking_tokens;
