import i18next from "i18next";
import { Ellipsis, Images, Pin, Plus, Search as SearchIcon, X } from "lucide-react";
import type { RefObject } from "react";
import { useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button, IconButton, LinkButton } from "#client/components/button.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { ApiProblem } from "#client/lib/api.ts";
import { picturesPath } from "#client/lib/pictures-path.ts";
import { useOnline } from "#client/lib/use-online.ts";
import { paths } from "#client/paths.ts";
import type { ConversationSummary } from "#contract/conversations.ts";
import { conversationLimits } from "#domain/conversations.ts";
import { groupByDay } from "./conversation-groups.ts";
import { ConversationMenu } from "./conversation-menu.tsx";
import { conversationPath } from "./conversation-path.ts";
import styles from "./conversations.module.css";
import { loadOlderConversations, refreshConversations, updateConversation, useConversations } from "./conversations-store.ts";
import { lateModule } from "./late-module.ts";
import { useSearch } from "./use-search.ts";

/** Fetched while the menu that leads to them is open. */
const useDialogs = lateModule(async () => {
  await i18next.loadNamespaces("dialogs");
  return import("./conversation-dialogs.tsx");
});
const useResults = lateModule(() => import("./search-results.tsx"));

interface ConversationListProps {
  /** The conversation that is open. */
  current: string;
  /** Called after a conversation was chosen, so that a sheet can close. */
  onChosen: () => void;
  onDeleted: (id: string) => void;
}

interface Opened {
  conversation: ConversationSummary;
  what: "menu" | "rename" | "delete";
  button: HTMLElement;
}

interface GroupsProps {
  current: string;
  onChosen: () => void;
  /** The conversation whose menu is open. */
  menuOf: string | undefined;
  onMenu: (conversation: ConversationSummary, button: HTMLElement) => void;
}

function Groups({ current, onChosen, menuOf, onMenu }: GroupsProps) {
  const { t, i18n } = useTranslation("chat");
  // On a phone the list is on the page and in the sheet, so ids must differ.
  const id = useId();
  const conversations = useConversations((state) => state.conversations);
  const names = { pinned: t("list.pinned"), lastDays: (days: number) => t("list.lastDays", { count: days }) };
  return groupByDay(conversations, new Date(), i18n.language, names).map((group) => (
    <section key={group.key} className={styles.group} aria-labelledby={`${id}${group.key}`}>
      <h3 id={`${id}${group.key}`} className={styles.groupTitle}>
        {group.key === "pinned" && <Pin size={12} aria-hidden="true" />}
        {group.title}
      </h3>
      <ul className={styles.items}>
        {group.conversations.map((conversation) => (
          <li key={conversation.id} className={styles.item} data-current={conversation.id === current || undefined}>
            <Link
              href={conversationPath(conversation.id)}
              className={styles.link}
              aria-current={conversation.id === current ? "page" : undefined}
              onClick={onChosen}
            >
              {conversation.title}
            </Link>
            <IconButton
              className={styles.more}
              label={t("list.options", { title: conversation.title })}
              aria-expanded={conversation.id === menuOf}
              data-options={conversation.id}
              onClick={(event) => onMenu(conversation, event.currentTarget)}
            >
              <Ellipsis size={18} aria-hidden="true" />
            </IconButton>
          </li>
        ))}
      </ul>
    </section>
  ));
}

/** Shown instead of conversations: there are none, or they could not be loaded. */
function ListState() {
  const { t } = useTranslation("chat");
  const { status, conversations } = useConversations();
  if (status === "loading") return <Spinner size="small" label={t("conversations.loading")} />;
  if (status === "failed") {
    return (
      <div className={styles.note}>
        <p>{t("conversations.failed")}</p>
        <Button size="small" onClick={() => void refreshConversations()}>
          {t("conversations.retry")}
        </Button>
      </div>
    );
  }
  return status === "ready" && conversations.length === 0 ? <p className={styles.note}>{t("conversations.empty")}</p> : null;
}

function Older() {
  const { t } = useTranslation("chat");
  const nextCursor = useConversations((state) => state.nextCursor);
  const [failed, setFailed] = useState(false);
  if (nextCursor === null) return null;
  const load = () => {
    loadOlderConversations().then(
      () => setFailed(false),
      () => setFailed(true),
    );
  };
  return (
    <Button size="small" variant="quiet" onClick={load}>
      {t(failed ? "conversations.retry" : "conversations.older")}
    </Button>
  );
}

function SearchField({ text, onText }: { text: string; onText: (text: string) => void }) {
  const { t } = useTranslation("chat");
  const input = useRef<HTMLInputElement>(null);
  const clear = () => {
    onText("");
    input.current?.focus();
  };
  return (
    <search className={styles.search}>
      <SearchIcon size={16} aria-hidden="true" />
      <input
        ref={input}
        type="text"
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        aria-label={t("search.label")}
        placeholder={t("search.label")}
        maxLength={conversationLimits.searchMax}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || text === "") return;
          // The first Escape clears the search; the next one closes the sheet.
          event.preventDefault();
          event.stopPropagation();
          onText("");
        }}
      />
      {text !== "" && (
        <IconButton label={t("search.clear")} onClick={clear}>
          <X size={16} aria-hidden="true" />
        </IconButton>
      )}
    </search>
  );
}

/** If the focus was in a row that disappeared, moves it to the row's new button or to the list. Does nothing if the focus is elsewhere. */
function keepFocus(list: HTMLElement | null, id: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const button = [...(list?.querySelectorAll<HTMLElement>("[data-options]") ?? [])].find(({ dataset }) => dataset.options === id);
    (button ?? list)?.focus();
  });
}

function useOpened(list: RefObject<HTMLElement | null>, onDeleted: (id: string) => void) {
  const { t } = useTranslation("chat");
  const [opened, setOpened] = useState<Opened>();
  const [fault, setFault] = useState<string>();
  const dialogs = useDialogs(opened !== undefined);
  const close = () => setOpened(undefined);
  if (!opened) return { fault, setOpened, menuOf: undefined, view: null };
  const { conversation, button, what } = opened;
  const pin = () => {
    setFault(undefined);
    updateConversation(conversation.id, { pinned: !conversation.pinned }).then(
      () => keepFocus(list.current, conversation.id),
      (error: unknown) => {
        const full = error instanceof ApiProblem && error.code === "conflict";
        setFault(full ? t("list.tooManyPins", { count: conversationLimits.pinnedMax }) : t("list.failed"));
      },
    );
  };
  const turnTo = (next: Opened["what"]) => () => setOpened({ ...opened, what: next });
  const closeMenu = () => setOpened((now) => (now?.what === "menu" ? undefined : now));
  const views = {
    menu: (
      <ConversationMenu
        key={conversation.id}
        {...{ conversation, button }}
        onPin={pin}
        onRename={turnTo("rename")}
        onDelete={turnTo("delete")}
        onClose={closeMenu}
      />
    ),
    rename: dialogs && <dialogs.RenameDialog conversation={conversation} onClose={close} />,
    delete: dialogs && (
      <dialogs.DeleteDialog
        conversation={conversation}
        onClose={close}
        onDeleted={() => {
          close();
          onDeleted(conversation.id);
          keepFocus(list.current, conversation.id);
        }}
      />
    ),
  };
  return { fault, setOpened, menuOf: what === "menu" ? conversation.id : undefined, view: views[what] };
}

export function ConversationList({ current, onChosen, onDeleted }: ConversationListProps) {
  const { t } = useTranslation("chat");
  const [text, setText] = useState("");
  const search = useSearch(text, useOnline());
  const list = useRef<HTMLElement>(null);
  const results = useResults(search.words !== undefined);
  const { fault, setOpened, menuOf, view } = useOpened(list, onDeleted);
  return (
    <nav ref={list} tabIndex={-1} className={styles.list} aria-label={t("conversations.title")}>
      <LinkButton href={paths.aiModels} wide onClick={onChosen}>
        <Plus size={18} aria-hidden="true" />
        {t("conversations.new")}
      </LinkButton>
      <LinkButton href={picturesPath} wide variant="quiet" className={styles.pictures ?? ""} onClick={onChosen}>
        <Images size={18} aria-hidden="true" />
        {t("conversations.pictures")}
      </LinkButton>
      <SearchField text={text} onText={setText} />
      {fault && (
        <p className={styles.note} role="alert">
          {fault}
        </p>
      )}
      {search.words === undefined ? (
        <>
          <ListState />
          <Groups {...{ current, onChosen, menuOf }} onMenu={(conversation, button) => setOpened({ conversation, button, what: "menu" })} />
          <Older />
        </>
      ) : (
        results && <results.SearchResults search={search} onChosen={onChosen} />
      )}
      {view}
    </nav>
  );
}
