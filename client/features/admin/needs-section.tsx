import type { ReactNode } from "react";
import { Suspense, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Spinner } from "#client/components/spinner.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AilingModel, WaitingTransfer } from "#contract/admin-work.ts";
import { addMilliseconds } from "#domain/clock.ts";
import { answerDueMs } from "#domain/inbox.ts";
import { ActDialog } from "./act-dialog.tsx";
import { AdminHead } from "./admin-frame.tsx";
import { Coded } from "./coded.tsx";
import { MailAgain } from "./mail-again.tsx";
import type { Asked, BlockProps } from "./needs-block.tsx";
import { Block, Person, Row } from "./needs-block.tsx";
import { Findings } from "./needs-findings.tsx";
import { Money, Transfers } from "./needs-money.tsx";
import { useNeeds, waitingOf } from "./needs-store.ts";
import styles from "./person.module.css";
import { sectionPath } from "./sections.ts";
import { SettleTransferDialog } from "./settle-transfer-dialog.tsx";
import { ReadAt, Since } from "./since.tsx";
import { useWords } from "./use-words.ts";

/** Does a job that failed for good again. */
function Replay({ id, ask }: Pick<BlockProps, "ask"> & { id: string }) {
  const { t } = useTranslation("admin");
  const title = t("work.replay");
  const act = async (reason: string) => {
    const { results } = await api("POST /api/admin/dead-letters/replay", { body: { ids: [id], reason } });
    const refused = results.find(({ outcome }) => outcome !== "done");
    return refused && <Alert tone="warning">{t(`work.outcome.${refused.outcome}`)}</Alert>;
  };
  return (
    <Button size="small" onClick={() => ask({ title, act })}>
      {title}
    </Button>
  );
}

function Letters({ needs: { deadLetters }, ask }: BlockProps) {
  const words = useWords();
  return (
    <Block name="deadLetters" count={deadLetters.rows.length} isMore={deadLetters.isMore}>
      {deadLetters.rows.map(({ id, job, error, failedAt }) => (
        <Row
          key={id}
          what={<Coded word={words.job(job)} code={job} />}
          detail={
            <>
              <Since at={failedAt} /> · {error}
            </>
          }
        >
          <Replay id={id} ask={ask} />
        </Row>
      ))}
    </Block>
  );
}

/** The address is wrong, or its mailbox takes nothing from us: somebody looks at it before it is sent again. */
function Mails({ needs: { refusedMails }, look }: Pick<BlockProps, "needs"> & { look: () => void }) {
  const { t } = useTranslation("admin");
  const words = useWords();
  return (
    <Block name="refusedMails" count={refusedMails.rows.length} isMore={refusedMails.isMore}>
      {refusedMails.rows.map((mail) => (
        <Row
          key={mail.id}
          what={
            <>
              {mail.userId === null ? mail.recipient : <Person userId={mail.userId} email={mail.recipient} />}{" "}
              <Coded word={words.mail(mail.template)} code={mail.template} />
            </>
          }
          detail={
            <>
              <Since at={mail.failedAt} /> · {mail.error}
            </>
          }
        >
          <MailAgain mail={mail} onDone={look} />
        </Row>
      ))}
      <li className={styles.row}>
        <Link href={`${sectionPath("work")}/mails`}>{t("needs.all")}</Link>
      </li>
    </Block>
  );
}

/** Those that fail or leave soon. Each opens with its switch and prices. */
function Models({ needs: { models } }: Pick<BlockProps, "needs">) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const { day } = useUtc();
  const whyOf = ({ why, answers, failed, until }: AilingModel) =>
    t(`needs.modelWhy.${why}`, { answers: number(answers), failed: number(failed), date: until === null ? "" : day(until) });
  return (
    <Block name="models" count={models.rows.length} isMore={models.isMore}>
      {models.rows.map((model) => (
        <Row key={model.id} what={model.name} detail={whyOf(model)}>
          <LinkButton size="small" href={`${sectionPath("models")}?${new URLSearchParams({ model: model.id })}`}>
            {t("needs.look")}
          </LinkButton>
        </Row>
      ))}
    </Block>
  );
}

function Unanswered({ needs: { unanswered } }: Pick<BlockProps, "needs">) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  return (
    <Block name="unanswered" count={unanswered.rows.length} isMore={unanswered.isMore}>
      {unanswered.rows.map(({ id, topic, since, email }) => (
        <Row
          key={id}
          what={
            <>
              {topic}{" "}
              <Badge tone="warning">
                {t("needs.due", { time: dateTime(addMilliseconds(new Date(since), answerDueMs).toISOString()) })}
              </Badge>
            </>
          }
          detail={
            <>
              {email} · <Since at={since} />
            </>
          }
        >
          <LinkButton size="small" href={`${sectionPath("inbox")}/${id}?status=open&order=asc`}>
            {t("needs.answer")}
          </LinkButton>
        </Row>
      ))}
    </Block>
  );
}

/** What waits for a team member, each with what mends it. */
export function NeedsSection() {
  const { t } = useTranslation(["admin", "common"]);
  const { needs, readAt, look } = useNeeds();
  const [asked, setAsked] = useState<Asked>();
  const [said, setSaid] = useState<ReactNode>();
  // It is said once the dialog is closed.
  const answer = useRef<ReactNode>(undefined);
  useEffect(look, [look]);
  const close = () => setAsked(undefined);
  const [moved, setMoved] = useState<WaitingTransfer>();
  const again = (
    <Button size="small" onClick={look}>
      {t("common:retry")}
    </Button>
  );
  return (
    <>
      <AdminHead title={t("admin:sections.needs")} lead={t("admin:needs.lead")} />
      <Suspense>{said}</Suspense>
      {needs === undefined && <Spinner label={t("admin:table.reading")} />}
      {needs === "failed" && (
        <Alert tone="warning" action={again}>
          {t("admin:table.failed")}
        </Alert>
      )}
      {needs !== undefined && needs !== "failed" && (
        <ReadAt value={readAt}>
          {waitingOf(needs)?.count === 0 && <EmptyState title={t("admin:needs.nothing")} />}
          <Findings needs={needs} ask={setAsked} />
          <Transfers needs={needs} move={setMoved} />
          <Money needs={needs} ask={setAsked} />
          <Models needs={needs} />
          <Unanswered needs={needs} />
          <Mails needs={needs} look={look} />
          <Letters needs={needs} ask={setAsked} />
        </ReadAt>
      )}
      {moved && (
        <SettleTransferDialog
          transfer={moved}
          onClose={() => setMoved(undefined)}
          onDone={() => {
            setMoved(undefined);
            look();
          }}
          look={look}
        />
      )}
      {asked && (
        <ActDialog
          title={asked.title}
          action={asked.title}
          onClose={close}
          act={async (reason) => {
            answer.current = await asked.act(reason);
          }}
          {...(asked.wordsOf && { wordsOf: asked.wordsOf })}
          onDone={() => {
            setSaid(answer.current);
            close();
            look();
          }}
          look={look}
        >
          {asked.text !== undefined && <p>{asked.text}</p>}
        </ActDialog>
      )}
    </>
  );
}
