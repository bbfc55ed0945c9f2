import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "#domain/clock.ts";

/** Business time: wall time plus an offset, which only grows and is stored. */
export class SandboxClock implements Clock {
  private readonly database: DatabaseSync;
  private offsetMs: number;

  constructor(database: DatabaseSync) {
    this.database = database;
    database.exec("create table if not exists clock (id integer primary key check (id = 1), offset_ms integer not null)");
    this.offsetMs = Number(database.prepare("select offset_ms from clock").get()?.offset_ms ?? 0);
  }

  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }

  /** Moves forward to `instant`; has no effect if that is in the past. */
  moveTo(instant: Date): void {
    const offsetMs = instant.getTime() - Date.now();
    if (offsetMs <= this.offsetMs) return;
    this.offsetMs = offsetMs;
    this.database
      .prepare("insert into clock (id, offset_ms) values (1, ?) on conflict (id) do update set offset_ms = excluded.offset_ms")
      .run(offsetMs);
  }
}
