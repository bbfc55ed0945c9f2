/** The lists of the panel as a member of the team saved them under a name. Each sees their own, on every device. */
import { DomainError } from "#domain/errors.ts";
import type { ListName } from "#domain/tables.ts";
import { mostViews, viewOf } from "#domain/tables.ts";
import type { NewView, SavedView } from "../../contract/admin/views.ts";
import type { Executor } from "../../db/transaction.ts";
import { inTransaction } from "../../db/transaction.ts";
import type { Deps } from "../../deps.ts";

type ViewDeps = Pick<Deps, "db" | "clock">;

export async function readViews(executor: Executor, userId: string, list: string): Promise<SavedView[]> {
  const views = executor.selectFrom("saved_views").select(["id", "name", "search"]).where("user_id", "=", userId);
  return views.where("list", "=", list).orderBy("name").execute();
}

function refuseOther(list: ListName, search: string): void {
  if (viewOf(list, search) === search) return;
  const message = "A view keeps the filters that are chosen, the order and the columns, and nothing else";
  throw new DomainError("validation_failed", message, { fields: [{ field: "search", message }] });
}

/** Throws `validation_failed`, and `conflict` if there are as many views of the list as there can be. */
export async function saveView({ db, clock }: ViewDeps, userId: string, { list, name, search }: NewView): Promise<SavedView[]> {
  refuseOther(list, search);
  return inTransaction(db, async (trx) => {
    // Locks the person, so that of two calls at the same moment the second counts the first one's view.
    await trx.selectFrom("users").select("id").where("id", "=", userId).forNoKeyUpdate().execute();
    await trx
      .insertInto("saved_views")
      .values({ user_id: userId, list, name: name.trim(), search, created_at: clock.now() })
      .onConflict((view) => view.columns(["user_id", "list", "name"]).doUpdateSet({ search }))
      .execute();
    const views = await readViews(trx, userId, list);
    if (views.length > mostViews) throw new DomainError("conflict", `A list has at most ${mostViews} views. Delete one first`);
    return views;
  });
}

/** Throws `not_found`, and `conflict` if another view of the list has the name. */
export async function renameView({ db }: ViewDeps, userId: string, viewId: string, name: string): Promise<SavedView[]> {
  return inTransaction(db, async (trx) => {
    const own = trx.selectFrom("saved_views").select("list").where("id", "=", viewId).where("user_id", "=", userId);
    const view = await own.forUpdate().executeTakeFirst();
    if (!view) throw new DomainError("not_found", "There is no such view");
    const taken = (await readViews(trx, userId, view.list)).some((other) => other.id !== viewId && other.name === name.trim());
    if (taken) throw new DomainError("conflict", "Another view has this name");
    await trx.updateTable("saved_views").set({ name: name.trim() }).where("id", "=", viewId).execute();
    return readViews(trx, userId, view.list);
  });
}

/** Throws `not_found`. */
export async function deleteView({ db }: ViewDeps, userId: string, viewId: string): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom("saved_views").where("id", "=", viewId).where("user_id", "=", userId).executeTakeFirst();
  if (numDeletedRows === 0n) throw new DomainError("not_found", "There is no such view");
}
