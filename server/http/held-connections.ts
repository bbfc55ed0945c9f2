/**
 * Connections that stay open after their request: WebSockets and streams of answers. The sign-in that opened them is checked again
 * every minute, and at once when that person's sign-ins change. If it has ended, or the person has another role now, the connection is
 * closed.
 */
import type { FastifyBaseLogger } from "fastify";
import { ByPerson } from "./by-person.ts";
import type { LiveEvent, LiveEvents } from "./live-events.ts";
import type { Viewer } from "./viewer.ts";

/**
 * Returns the role behind each of the sign-ins that is still valid. We check the sign-in, because a connection may stay open longer
 * than its access token is valid.
 */
export type CheckSessions = (sessionIds: readonly string[]) => Promise<Map<string, Viewer["role"]>>;

interface Held {
  viewer: Viewer;
  cut: () => void;
}

const recheckEveryMs = 60_000;
/** More connections than anybody has pages open. */
const heldByOnePerson = 50;

interface HeldConnectionsDeps {
  live: LiveEvents;
  log: FastifyBaseLogger;
}

export class HeldConnections {
  private readonly held = new ByPerson<Held>();
  /** When people's sign-ins changed lately. A connection let in before a change may be added after it, and is then checked at once. */
  private readonly changedAt = new Map<string, number>();
  /** When live events were last interrupted: anybody's sign-ins may have changed meanwhile. */
  private gapAt = Number.NEGATIVE_INFINITY;
  private readonly deps: HeldConnectionsDeps;
  private readonly checkSessions: CheckSessions;

  /** `checkSessions` is the auth feature's `createSessionCheck`. */
  constructor(deps: HeldConnectionsDeps, checkSessions: CheckSessions) {
    this.deps = deps;
    this.checkSessions = checkSessions;
  }

  /** Begins to check. Returns a function that stops it. */
  start(): () => void {
    const unsubscribe = this.deps.live.subscribe((event) => this.follow(event));
    const timer = setInterval(() => this.recheckAll(), recheckEveryMs).unref();
    return () => {
      unsubscribe();
      clearInterval(timer);
    };
  }

  hasRoomFor({ userId }: Viewer): boolean {
    return this.held.count(userId) < heldByOnePerson;
  }

  /** `cut` is called when the sign-in has ended or the role has changed. Returns a function to call when the connection has closed. */
  hold(viewer: Viewer, cut: () => void): () => void {
    const held: Held = { viewer, cut };
    const release = this.held.add(held);
    const changedAt = Math.max(this.gapAt, this.changedAt.get(viewer.userId) ?? Number.NEGATIVE_INFINITY);
    if (performance.now() - changedAt < recheckEveryMs) void this.recheck([held]);
    return release;
  }

  private follow(event: LiveEvent | "resync"): void {
    if (event === "resync") {
      this.gapAt = performance.now();
      this.recheckAll();
    } else if (event.table === "session") {
      this.changedAt.set(event.userId, performance.now());
      void this.recheck(this.held.of(event.userId));
    }
  }

  private recheckAll(): void {
    for (const [userId, at] of this.changedAt) if (performance.now() - at > recheckEveryMs) this.changedAt.delete(userId);
    void this.recheck(this.held.all());
  }

  private async recheck(some: readonly Held[]): Promise<void> {
    if (some.length === 0) return;
    try {
      const roles = await this.checkSessions([...new Set(some.map(({ viewer }) => viewer.sessionId))]);
      for (const { viewer, cut } of some) if (roles.get(viewer.sessionId) !== viewer.role) cut();
    } catch (error) {
      this.deps.log.warn({ err: error }, "open connections could not be checked; the next check follows within a minute");
    }
  }
}
