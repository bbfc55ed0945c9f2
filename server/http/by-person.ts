/** A set of objects (connections, streams) for each signed-in person, in this process. */
import type { Viewer } from "./viewer.ts";

export class ByPerson<T extends { viewer: Viewer }> {
  private readonly own = new Map<string, Set<T>>();

  /** Adds an object. Returns a function that removes it again. */
  add(one: T): () => void {
    const { userId } = one.viewer;
    const own = this.own.get(userId) ?? new Set();
    this.own.set(userId, own.add(one));
    return () => {
      own.delete(one);
      if (own.size === 0 && this.own.get(userId) === own) this.own.delete(userId);
    };
  }

  count(userId: string): number {
    return this.own.get(userId)?.size ?? 0;
  }

  of(userId: string): T[] {
    return [...(this.own.get(userId) ?? [])];
  }

  all(): T[] {
    return [...this.own.values()].flatMap((own) => [...own]);
  }
}
