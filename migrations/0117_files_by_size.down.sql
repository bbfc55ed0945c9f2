drop index files_newest, files_largest;
