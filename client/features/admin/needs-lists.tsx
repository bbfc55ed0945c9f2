/** What waits besides money: failed jobs, mails that were not delivered, models, and messages. */
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AilingModel } from "#contract/admin/needs.ts";
import { addMilliseconds } from "#domain/clock.ts";
import { answerDueMs } from "#domain/inbox.ts";
import { Coded } from "./coded.tsx";
import { MailAgain } from "./mail-again.tsx";
import type { BlockProps } from "./needs-block.tsx";
import { Block, Person, Row } from "./needs-block.tsx";
import styles from "./person.module.css";
import { sectionPath } from "./sections.ts";
import { Since } from "./since.tsx";
import { useWords } from "./use-words.ts";

/** The button that runs a job again after it failed for good. */
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

export function Letters({ needs: { deadLetters }, ask }: BlockProps) {
  const words = useWords();
  return (
    <Block name="deadLetters" count={deadLetters.rows.length} isMore={deadLetters.isMore}>
      {deadLetters.rows.map(({ id, job, error, failedAt, entry, dueBy }) => (
        <Row
          key={id}
          need={{ kind: "deadLetters", entry, dueBy }}
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

/** Mails whose address is wrong or whose mailbox refuses us. Somebody looks at each before it is sent again. */
export function Mails({ needs: { refusedMails }, look }: Pick<BlockProps, "needs"> & { look: () => void }) {
  const { t } = useTranslation("admin");
  const words = useWords();
  return (
    <Block name="refusedMails" count={refusedMails.rows.length} isMore={refusedMails.isMore}>
      {refusedMails.rows.map((mail) => (
        <Row
          key={mail.id}
          need={{ kind: "refusedMails", ...mail }}
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

/** Models that fail, or end soon. Each links to its switch and prices. */
export function Models({ needs: { models } }: Pick<BlockProps, "needs">) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const { day } = useUtc();
  const whyOf = ({ why, answers, failed, until }: AilingModel) =>
    t(`needs.modelWhy.${why}`, { answers: number(answers), failed: number(failed), date: until === null ? "" : day(until) });
  return (
    <Block name="models" count={models.rows.length} isMore={models.isMore}>
      {models.rows.map((model) => (
        <Row key={model.id} need={{ kind: "models", ...model }} what={model.name} detail={whyOf(model)}>
          <LinkButton size="small" href={`${sectionPath("models")}?${new URLSearchParams({ model: model.id })}`}>
            {t("needs.look")}
          </LinkButton>
        </Row>
      ))}
    </Block>
  );
}

export function Unanswered({ needs: { unanswered } }: Pick<BlockProps, "needs">) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  return (
    <Block name="unanswered" count={unanswered.rows.length} isMore={unanswered.isMore}>
      {unanswered.rows.map(({ id, topic, since, email, entry, dueBy }) => (
        <Row
          key={id}
          need={{ kind: "unanswered", entry, dueBy }}
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
