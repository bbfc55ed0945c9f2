drop table daily_first_texts;
drop function answer_end(uuid, uuid, text, text, boolean, bigint, jsonb, integer, integer, bigint, integer, integer, text, text[], timestamptz, integer);
alter table generations drop column first_text_ms;
