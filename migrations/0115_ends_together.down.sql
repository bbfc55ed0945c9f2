drop function answers_end(json, uuid[], uuid[], bigint[], timestamptz[], boolean);
drop function made_files_keep(uuid[], jsonb[]);
drop function spending_return(uuid[], date[], bigint[]);
drop function usage_count_many(uuid[], text[], bigint[], timestamptz[]);
drop function ledger_settle_many(uuid[], bigint[], bigint[], text[], timestamptz[], timestamptz);
