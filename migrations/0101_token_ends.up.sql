-- How many tokens a document's text has at most. Null for documents that were read before.
alter table file_texts add token_ends integer[];
