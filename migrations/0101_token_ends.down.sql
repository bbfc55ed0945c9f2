alter table file_texts drop column token_ends;
