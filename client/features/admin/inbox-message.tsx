import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Select } from "#client/components/field.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useSession } from "#client/lib/use-session.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { InboxPage } from "#contract/admin/inbox.ts";
import type { InboxStatus } from "#domain/inbox.ts";
import { inboxStatuses } from "#domain/inbox.ts";
import { ActDialog } from "./act-dialog.tsx";
import { AdminHead, BackLink } from "./admin-frame.tsx";
import { Facts } from "./facts.tsx";
import styles from "./inbox.module.css";
import { InboxAnswer } from "./inbox-answer.tsx";
import { InboxHistory } from "./inbox-history.tsx";
import { languageName, statusTones } from "./inbox-names.ts";
import type { Neighbours } from "./inbox-neighbours.tsx";
import { InboxNeighbours, isFromNeighbour, NextMessage, useNeighbours } from "./inbox-neighbours.tsx";
import personStyles from "./person.module.css";
import { sectionPath } from "./sections.ts";
import type { Shown } from "./use-inbox-act.ts";
import { useInboxAct } from "./use-inbox-act.ts";
import { useColleagues } from "./use-team.ts";

type State = { status: "loading" | "missing" | "failed" } | { status: "known"; page: InboxPage };

/** A mail that was just queued is sent within seconds. */
const lookAgainMs = 2_500;
const looks = 8;

function useMessage(messageId: string) {
  const [state, setState] = useState<State>({ status: "loading" });
  const [left, setLeft] = useState(looks);
  const look = useCallback(
    () =>
      api("GET /api/admin/inbox/:messageId", { params: { messageId } }).then(
        (page) => setState({ status: "known", page }),
        (error: unknown) => {
          const isMissing = error instanceof ApiProblem && (error.status === 404 || error.status === 400);
          setState((before) => (isMissing ? { status: "missing" } : before.status === "known" ? before : { status: "failed" }));
        },
      ),
    [messageId],
  );
  useEffect(() => void look(), [look]);
  const isUnderway = state.status === "known" && state.page.history.some(({ answer }) => answer?.delivery.state === "waiting");
  useEffect(() => {
    if (!isUnderway || left === 0) return;
    const timer = setTimeout(() => void look().then(() => setLeft(left - 1)), lookAgainMs);
    return () => clearTimeout(timer);
  }, [isUnderway, left, look]);
  const show = useCallback((page: InboxPage) => {
    setLeft(looks);
    setState({ status: "known", page });
  }, []);
  return { state, look, show };
}

const closingReasons = ["elsewhere", "spam", "repeated", "nothing"] as const;

interface KnownProps extends Shown {
  page: InboxPage;
}

/** Nobody has answered, so the log has to say why nothing is left to do. */
function CloseDialog({ act, onClose }: { act: (reason: string) => Promise<void>; onClose: () => void }) {
  const { t } = useTranslation("inbox");
  return (
    <ActDialog
      title={t("close.title")}
      action={t("close.action")}
      reasons={closingReasons.map((each) => t(`close.reasons.${each}`))}
      onClose={onClose}
      onDone={onClose}
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "conflict" ? t("conflict") : undefined)}
      act={act}
    />
  );
}

function Handling({ page, look, show, neighbours }: KnownProps & { neighbours: Neighbours }) {
  const { t } = useTranslation("inbox");
  const { user } = useSession();
  const colleagues = useColleagues();
  const { note, busy, run } = useInboxAct({ look, show });
  const [isClosed, setClosed] = useState(false);
  const [isClosing, setClosing] = useState(false);
  const { id: messageId, version, owner, status } = page;
  const params = { messageId };
  const put = async (wanted: InboxStatus, reason: string) => {
    const after = await api("PUT /api/admin/inbox/:messageId/status", { params, body: { version, status: wanted, reason } });
    setClosed(wanted !== "open");
    return after;
  };
  function setStatus(wanted: InboxStatus): void {
    setClosed(false);
    // Where somebody has answered it is clear why nothing is left to do.
    if (wanted === "done" && !page.history.some(({ kind }) => kind === "answered")) setClosing(true);
    else void run(() => put(wanted, t(`reasons.${wanted}`)));
  }
  const give = (ownerId: string | null) => {
    const reason = t(ownerId === null ? "reasons.gaveBack" : ownerId === user?.id ? "reasons.took" : "reasons.gave");
    void run(() => api("PUT /api/admin/inbox/:messageId/owner", { params, body: { version, ownerId, reason } }));
  };
  const known = colleagues.some(({ value }) => value === owner?.id) || owner === null ? [] : [{ value: owner.id, label: owner.name }];
  return (
    <>
      {note}
      <div className={styles.handling}>
        <Select
          label={t("status")}
          value={status}
          disabled={busy !== undefined}
          onChange={({ target }) => {
            const wanted = inboxStatuses.find((each) => each === target.value);
            if (wanted) setStatus(wanted);
          }}
          options={inboxStatuses.map((value) => ({ value, label: t(`statuses.${value}`) }))}
        />
        <Select
          label={t("owner")}
          value={owner?.id ?? ""}
          disabled={busy !== undefined}
          onChange={({ target }) => give(target.value || null)}
          options={[{ value: "", label: t("nobody") }, ...known, ...colleagues]}
        />
        {user && owner?.id !== user.id && <Button onClick={() => give(user.id)}>{t("take")}</Button>}
      </div>
      {isClosed && <NextMessage neighbours={neighbours} />}
      {isClosing && (
        <CloseDialog
          onClose={() => setClosing(false)}
          act={async (reason) => {
            try {
              show(await put("done", reason));
            } catch (error) {
              if (error instanceof ApiProblem && error.code === "conflict") await look();
              throw error;
            }
          }}
        />
      )}
    </>
  );
}

function Sender({ page: { account, name, email, category, language, reference, createdAt } }: { page: InboxPage }) {
  const { t } = useTranslation(["inbox", "admin", "contact"]);
  const { dateTime } = useUtc();
  const person = account && (
    <>
      <Link href={`${sectionPath("people")}/${account.userId}`}>{account.email}</Link>{" "}
      <span className={personStyles.soft}>{t(account.signedIn ? "inbox:signedIn" : "inbox:typed")}</span>
    </>
  );
  return (
    <Facts
      facts={[
        { label: t("admin:people.name"), value: name },
        { label: t("inbox:sender"), value: email },
        { label: t("inbox:account"), value: person ?? t("inbox:noAccount") },
        { label: t("inbox:kind"), value: t(`contact:categories.${category}`) },
        { label: t("inbox:language"), value: languageName(language) },
        { label: t("inbox:received"), value: dateTime(createdAt) },
        { label: t("inbox:reference"), value: reference },
      ]}
    />
  );
}

function Known({ page, look, show }: KnownProps) {
  const { t } = useTranslation(["inbox", "admin"]);
  const neighbours = useNeighbours(page);
  return (
    <>
      <div className={styles.top}>
        <BackLink to="inbox" />
        <InboxNeighbours neighbours={neighbours} />
      </div>
      <AdminHead
        takesFocus={isFromNeighbour()}
        title={
          <span className={personStyles.who}>
            {page.subject ?? page.name} <Badge tone={statusTones[page.status]}>{t(`inbox:statuses.${page.status}`)}</Badge>
          </span>
        }
      />
      <div className={styles.columns}>
        <div className={styles.thread}>
          <InboxHistory page={page} />
          <InboxAnswer key={page.id} page={page} look={look} show={show} neighbours={neighbours} />
        </div>
        <div className={styles.side}>
          <Handling page={page} look={look} show={show} neighbours={neighbours} />
          <Sender page={page} />
        </div>
      </div>
    </>
  );
}

/** One message: what somebody wrote, whose account it may be, what the team did, and an answer to it. */
export function InboxMessage({ messageId }: { messageId: string }) {
  const { t } = useTranslation(["inbox", "admin", "common"]);
  const { state, look, show } = useMessage(messageId);
  const again = (
    <Button size="small" onClick={() => void look()}>
      {t("common:retry")}
    </Button>
  );
  if (state.status === "loading") return <Spinner label={t("admin:table.reading")} />;
  if (state.status === "missing") return <EmptyState title={t("inbox:missing")} />;
  if (state.status === "known") return <Known page={state.page} look={look} show={show} />;
  return (
    <Alert tone="warning" action={again}>
      {t("admin:table.failed")}
    </Alert>
  );
}
