/**
 * Connections that outlive their request: WebSockets and streams of answers. What is checked again is the sign-in that opened
 * them, at once when that person's sign-ins change and every minute; one whose sign-in has ended is cut.
 */
import type { Deps } from "../deps.ts";
import { ByPerson } from "./by-person.ts";
import type { LiveEvent } from "./live-events.ts";
import type { Viewer } from "./viewer.ts";

/** Which of these sign-ins still hold. A connection outlives its access token, so its sign-in is what is checked again. */
export type CheckSessions = (sessionIds: readonly string[]) => Promise<Set<string>>;

interface Held {
  viewer: Viewer;
  cut: () => void;
}

const recheckEveryMs = 60_000;
/** More than anybody has pages open. */
const heldByOnePerson = 50;

export class HeldConnections {
  private readonly held = new ByPerson<Held>();
  /** Whose sign-ins changed lately, and when: a connection that was let in just before is held only now. */
  private readonly changedAt = new Map<string, number>();
  /** After a gap in the live events anybody's may have changed. */
  private gapAt = Number.NEGATIVE_INFINITY;
  private readonly deps: Pick<Deps, "live" | "log">;
  private readonly checkSessions: CheckSessions;

  /** `checkSessions` is createSessionCheck of the auth feature. */
  constructor(deps: Pick<Deps, "live" | "log">, checkSessions: CheckSessions) {
    this.deps = deps;
    this.checkSessions = checkSessions;
  }

  /** Follows live events and the clock. Returns how to stop. */
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

  /** `cut` is called when the sign-in has ended. Returns how to let go of a connection that has closed. */
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
      const valid = await this.checkSessions([...new Set(some.map(({ viewer }) => viewer.sessionId))]);
      for (const { viewer, cut } of some) if (!valid.has(viewer.sessionId)) cut();
    } catch (error) {
      this.deps.log.warn({ err: error }, "open connections could not be checked; the next check follows within a minute");
    }
  }
}
