-- A person's page of files: of one category, the newest or the largest first. The categories of `fileCategories` (server/domain/file-categories.ts);
-- a list of all of them reads a page of each. The expression is that of server/features/files/room-queries.ts.
create index files_newest on files (user_id, (case
    when kind = 'attachment' then case when content_type like 'audio/%' then 'recording' else 'attachment' end
    when content_type like 'image/%' then 'picture' when content_type like 'video/%' then 'clip' else 'speech' end), id)
  where content_type is not null;
create index files_largest on files (user_id, (case
    when kind = 'attachment' then case when content_type like 'audio/%' then 'recording' else 'attachment' end
    when content_type like 'image/%' then 'picture' when content_type like 'video/%' then 'clip' else 'speech' end), bytes, id)
  where content_type is not null;
