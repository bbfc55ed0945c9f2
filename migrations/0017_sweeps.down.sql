drop table sweep_failures;
