-- Clips are made by jobs that outlive the process that began them (docs/decisions/0070). A row is there while its answer is under way.
create table clip_jobs (
  generation_id uuid primary key references generations,
  user_id uuid not null references users on delete cascade,
  prompt text not null,
  -- queued: nobody has begun. starting: the provider may have been asked, and we have no word from it. working: the provider has begun.
  state text not null default 'queued' check (state in ('queued', 'starting', 'working')),
  -- The provider's name for the job.
  request_id text,
  percent integer check (percent between 0 and 100),
  -- The place in the queue that the person was told last.
  told_place integer,
  -- How many events of the answer are in its log.
  events integer not null default 1,
  -- How often the provider has turned the request away, and when it is to be asked again.
  refusals integer not null default 0,
  again_at timestamptz,
  -- PostgreSQL's clock, as for all leases.
  queued_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  owner uuid,
  lease_expires_at timestamptz,
  check ((state = 'queued') = (started_at is null)),
  check ((state = 'queued') = (owner is null)),
  check ((state = 'working') = (request_id is not null)),
  check ((owner is null) = (lease_expires_at is null))
);
create index clip_jobs_user on clip_jobs (user_id);
