import { BookmarkPlus, Pencil } from "lucide-react";
import type { FormEvent } from "react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link, useLocation, useSearch } from "wouter";
import { Button, IconButton } from "#client/components/button.tsx";
import { Dialog } from "#client/components/dialog.tsx";
import { TextField } from "#client/components/field.tsx";
import { useAct } from "#client/components/use-act.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { SavedView } from "#contract/admin/views.ts";
import type { ListName } from "#domain/tables.ts";
import { mostViews, viewLimits, viewOf } from "#domain/tables.ts";
import styles from "./saved-views.module.css";
import { useViews } from "./use-views.ts";

interface ViewDialogProps {
  list: ListName;
  /** What the list's address says now. */
  search: string;
  /** The view to rename or delete; without it the dialog saves a new one. */
  view?: SavedView | undefined;
  onClose: () => void;
  onDone: (views: readonly SavedView[]) => void;
}

function ViewDialog({ list, search, view, onClose, onDone }: ViewDialogProps) {
  const { t } = useTranslation(["admin", "common", "errors", "refusals"]);
  const { number } = useFormat();
  const [name, setName] = useState(view?.name ?? "");
  const [isBlank, setBlank] = useState(false);
  const { note, busy, waitSeconds, run } = useAct<"save" | "delete">();
  const words = (error: unknown) =>
    error instanceof ApiProblem && error.code === "conflict" ? t("admin:views.taken", { most: number(mostViews) }) : undefined;

  function save(event: FormEvent): void {
    event.preventDefault();
    setBlank(name.trim() === "");
    if (name.trim() === "") return;
    const call = () =>
      view
        ? api("PATCH /api/admin/views/:viewId", { params: { viewId: view.id }, body: { name } })
        : api("POST /api/admin/views", { body: { list, name, search } });
    void run("save", async () => onDone((await call()).views), words);
  }

  async function remove({ id: viewId }: SavedView): Promise<void> {
    await api("DELETE /api/admin/views/:viewId", { params: { viewId } });
    onDone((await api("GET /api/admin/views", { querystring: { list } })).views);
  }

  const buttons = (
    <>
      {view && (
        <Button variant="danger" busy={busy === "delete"} onClick={() => void run("delete", () => remove(view))}>
          {t("admin:views.delete")}
        </Button>
      )}
      <Button onClick={onClose}>{t("common:cancel")}</Button>
      <Button type="submit" form="view" variant="primary" busy={busy === "save"} aria-disabled={waitSeconds > 0}>
        {t("admin:views.do")}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t(view ? "admin:views.change" : "admin:views.save")} actions={buttons}>
      <form id="view" className={styles.form} onSubmit={save} noValidate>
        <TextField
          label={t("admin:views.name")}
          hint={view ? undefined : t("admin:views.hint")}
          error={isBlank ? t("admin:views.blank") : undefined}
          autoComplete="off"
          maxLength={viewLimits.nameMax}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        {note}
      </form>
    </Dialog>
  );
}

/** Above a list: the views of it that the reader saved, each an address, and what saves the one that is shown. */
export function SavedViews({ list }: { list: ListName }) {
  const { t } = useTranslation("admin");
  const [pathname] = useLocation();
  const search = viewOf(list, useSearch());
  const { views, show } = useViews(list);
  const [asked, setAsked] = useState<"save" | "change">();
  const current = views.find((view) => view.search === search);
  const close = () => setAsked(undefined);
  const canSave = search !== "" && !current;
  if (views.length === 0 && !canSave) return null;
  const tab = (key: string, label: string, to: string, isCurrent: boolean) => (
    <li key={key}>
      <Link href={to === "" ? pathname : `${pathname}?${to}`} className={styles.view} aria-current={isCurrent ? "page" : undefined}>
        {label}
      </Link>
    </li>
  );
  return (
    <div className={styles.views}>
      {views.length > 0 && (
        <nav aria-label={t("views.label")} className={styles.scrolls}>
          <ul className={styles.list}>
            {tab("", t("views.all"), "", search === "")}
            {views.map((view) => tab(view.id, view.name, view.search, view === current))}
          </ul>
        </nav>
      )}
      {current && (
        <IconButton label={t("views.change")} onClick={() => setAsked("change")}>
          <Pencil size={16} aria-hidden="true" />
        </IconButton>
      )}
      {canSave && (
        <Button size="small" variant="quiet" onClick={() => setAsked("save")}>
          <BookmarkPlus size={16} aria-hidden="true" />
          {t("views.save")}
        </Button>
      )}
      {asked && (
        <ViewDialog
          list={list}
          search={search}
          view={asked === "change" ? current : undefined}
          onClose={close}
          onDone={(next) => {
            show(next);
            close();
          }}
        />
      )}
    </div>
  );
}
