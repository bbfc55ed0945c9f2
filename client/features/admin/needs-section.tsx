import type { ReactNode } from "react";
import { Suspense, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import type { Needs, PutOffNeed, WaitingTransfer } from "#contract/admin/needs.ts";
import { ActDialog } from "./act-dialog.tsx";
import { AdminHead } from "./admin-frame.tsx";
import { ClosedFindings } from "./closed-findings.tsx";
import type { Asked } from "./needs-block.tsx";
import { inSilence } from "./needs-block.tsx";
import { Findings } from "./needs-findings.tsx";
import { Letters, Mails, Models, Unanswered } from "./needs-lists.tsx";
import { Money, Transfers } from "./needs-money.tsx";
import { useLookingEveryMinute, useNeeds, usePutOff, waitingOf } from "./needs-store.ts";
import type { Delayed } from "./put-off.tsx";
import { PutOffContext, PutOffDialog } from "./put-off.tsx";
import { sectionPath } from "./sections.ts";
import { SettleTransferDialog } from "./settle-transfer-dialog.tsx";
import { ReadAt } from "./since.tsx";
import { TabLinks } from "./tab-links.tsx";
import { useFocusAfterAct } from "./use-focus-after-act.ts";

interface DialogsProps {
  asked: Asked | undefined;
  moved: WaitingTransfer | undefined;
  delayed: Delayed | undefined;
  close: () => void;
  /** After an act, with what there is to say about it. */
  done: (answer?: ReactNode) => void;
  look: () => void;
}

/** At most one of them is open. */
function Dialogs({ asked, moved, delayed, close, done, look }: DialogsProps) {
  const answer = useRef<ReactNode>(undefined);
  if (moved) return <SettleTransferDialog transfer={moved} onClose={close} onDone={() => done()} look={look} />;
  if (delayed) return <PutOffDialog entry={delayed} onClose={close} onDone={() => done()} look={look} />;
  if (!asked) return null;
  return (
    <ActDialog
      title={asked.title}
      action={asked.title}
      onClose={close}
      act={async (reason) => {
        answer.current = await asked.act(reason);
      }}
      {...(asked.wordsOf && { wordsOf: asked.wordsOf })}
      // The message is shown once the dialog is closed.
      onDone={() => done(answer.current)}
      look={look}
    >
      {asked.text !== undefined && <p>{asked.text}</p>}
    </ActDialog>
  );
}

/** The dialog that is open. */
interface Opened {
  asked?: Asked;
  moved?: WaitingTransfer;
  delayed?: Delayed;
}

interface ListsProps {
  needs: Needs;
  isPutOff: boolean;
  ask: (asked: Asked) => void;
  move: (transfer: WaitingTransfer) => void;
  look: () => void;
}

function Lists({ needs, isPutOff, ask, move, look }: ListsProps) {
  const { t } = useTranslation("admin");
  const nothing = isPutOff ? (
    <EmptyState title={t("needs.putOff.nothing")}>{t("needs.putOff.nothingText")}</EmptyState>
  ) : (
    <EmptyState title={t("needs.nothing")} />
  );
  return (
    <>
      {waitingOf(needs)?.count === 0 && nothing}
      <Findings needs={needs} ask={ask} />
      <Transfers needs={needs} move={move} />
      <Money needs={needs} ask={ask} />
      <Models needs={needs} />
      <Unanswered needs={needs} />
      <Mails needs={needs} look={look} />
      <Letters needs={needs} ask={ask} />
    </>
  );
}

interface KnownProps {
  needs: Needs;
  isPutOff: boolean;
  open: (opened: Opened) => void;
  look: () => void;
}

function Known({ needs, isPutOff, open, look }: KnownProps) {
  const { t } = useTranslation("admin");
  const bringBack = (entry: Pick<PutOffNeed, "kind" | "entry">) =>
    open({
      asked: {
        title: t("needs.putOff.back"),
        text: t("needs.putOff.backText"),
        act: inSilence((reason) => api("POST /api/admin/needs/bring-back", { body: { ...entry, reason } })),
      },
    });
  return (
    <PutOffContext value={{ isPutOff, entries: needs.putOff, delay: (delayed) => open({ delayed }), bringBack }}>
      <Lists needs={needs} isPutOff={isPutOff} ask={(asked) => open({ asked })} move={(moved) => open({ moved })} look={look} />
    </PutOffContext>
  );
}

/** What waits or, with `isPutOff`, what of it was put off. */
function Waiting({ isPutOff }: { isPutOff: boolean }) {
  const { t } = useTranslation(["admin", "common"]);
  const { needs, readAt, look: lookHere } = (isPutOff ? usePutOff : useNeeds)();
  const [open, setOpen] = useState<Opened>({});
  const [said, setSaid] = useState<ReactNode>();
  useEffect(() => {
    if (!isPutOff) lookHere();
  }, [lookHere, isPutOff]);
  // What waits is read every minute on all pages of the panel anyway, because the navigation counts it.
  useLookingEveryMinute(lookHere, isPutOff);
  const noteAct = useFocusAfterAct(needs);
  const look = () => {
    // The navigation counts what waits.
    useNeeds.getState().look();
    if (isPutOff) lookHere();
  };
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  return (
    <>
      <Suspense>{said}</Suspense>
      {needs === undefined && <Spinner label={t("admin:table.reading")} />}
      {needs === "failed" && (
        <Alert tone="warning" action={again}>
          {t("admin:table.failed")}
        </Alert>
      )}
      {needs !== undefined && needs !== "failed" && (
        <ReadAt value={readAt}>
          <Known needs={needs} isPutOff={isPutOff} open={setOpen} look={look} />
        </ReadAt>
      )}
      <Dialogs
        asked={open.asked}
        moved={open.moved}
        delayed={open.delayed}
        close={() => setOpen({})}
        done={(answer) => {
          setSaid(answer);
          setOpen({});
          look();
          noteAct();
        }}
        look={look}
      />
    </>
  );
}

const tabs = ["waiting", "put-off", "closed"] as const;
const labels = { waiting: "needs.tabs.waiting", "put-off": "needs.tabs.putOff", closed: "needs.tabs.closed" } as const;

/** What waits for a team member, each with what mends it, what was put off until a day, and what somebody has closed. */
export function NeedsSection({ id }: { id: string | undefined }) {
  const { t } = useTranslation("admin");
  const current = tabs.find((tab) => tab === id) ?? "waiting";
  const links = tabs.map((tab) => ({
    address: tab === "waiting" ? sectionPath("needs") : `${sectionPath("needs")}/${tab}`,
    label: t(labels[tab]),
    isCurrent: tab === current,
  }));
  return (
    <>
      <AdminHead title={t("sections.needs")} lead={t("needs.lead")} />
      <TabLinks label={t("needs.tabs.label")} tabs={links} />
      {current === "closed" ? <ClosedFindings /> : <Waiting key={current} isPutOff={current === "put-off"} />}
    </>
  );
}
