drop table clip_jobs;
