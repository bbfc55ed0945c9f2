import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Button } from "#client/components/button.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { RefusedMailRow, RefusedMailsQuery } from "#contract/admin/work.ts";
import { Coded } from "./coded.tsx";
import { Facts } from "./facts.tsx";
import { MailAgain } from "./mail-again.tsx";
import { sectionPath } from "./sections.ts";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";
import { actsOn, LetterActs, LetterState } from "./work-acts.tsx";
import type { Asked } from "./work-table.tsx";
import { WorkTable } from "./work-table.tsx";

const load = (query: TableQuery, signal: AbortSignal) =>
  api("GET /api/admin/refused-mails", { querystring: query as RefusedMailsQuery, signal });

type Ask = (asked: Omit<Asked<RefusedMailRow>, "rows">) => void;

const canSendAgain = ({ state }: RefusedMailRow) => state !== "replayed";

function MailView({ mail }: { mail: RefusedMailRow }) {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  const person = mail.userId !== null && <Link href={`${sectionPath("people")}/${mail.userId}`}>{mail.email}</Link>;
  return (
    <>
      <Facts
        facts={[
          { label: t("person.account"), value: person || null },
          { label: t("person.template"), value: <Coded word={words.mail(mail.template)} code={mail.template} /> },
          { label: t("audit.time"), value: dateTime(mail.failedAt) },
          { label: t("people.state"), value: <LetterState letter={mail} /> },
          { label: t("work.error"), value: mail.error },
        ]}
      />
      <LetterActs letterId={mail.id} />
    </>
  );
}

/** Mails that were given up. One is sent again to its own address or to a right one, several to their own. */
export function RefusedMails() {
  const { t } = useTranslation("admin");
  const words = useWords();
  const { dateTime } = useUtc();
  const actButton = (name: "replay" | "discard", ask: Ask) => {
    const title = name === "replay" ? t("person.again.title") : t("work.discard");
    const act = (ids: string[], reason: string) => api(`POST /api/admin/dead-letters/${name}`, { body: { ids, reason } });
    return (
      <Button size="small" onClick={() => ask({ title, danger: name === "discard", act })}>
        {title}
      </Button>
    );
  };
  return (
    <WorkTable<RefusedMailRow>
      list="refused-mails"
      label={t("needs.refusedMails")}
      columns={[
        { name: "recipient", label: t("work.recipient"), cell: ({ recipient }) => recipient },
        { name: "template", label: t("person.template"), cell: ({ template }) => <Coded word={words.mail(template)} code={template} /> },
        { name: "time", label: t("audit.time"), cell: ({ failedAt }) => dateTime(failedAt), sort: "time", isTime: true },
        { name: "state", label: t("people.state"), cell: ({ state }) => t(`work.states.${state}`) },
        { name: "error", label: t("work.error"), cell: ({ error }) => error },
      ]}
      filters={[
        {
          name: "state",
          label: t("people.state"),
          options: (["waiting", "replayed", "discarded"] as const).map((value) => ({ value, label: t(`work.states.${value}`) })),
        },
      ]}
      load={load}
      download={(query) => apiResponse("GET /api/admin/refused-mails.csv", { querystring: query as RefusedMailsQuery })}
      empty={t("work.noMails")}
      titleOf={({ recipient }) => recipient}
      nameOf={({ recipient, template }) => `${recipient}, ${words.mail(template)}`}
      view={(mail) => <MailView key={mail.id} mail={mail} />}
      isOpen={canSendAgain}
      acts={(mails, ask, readAgain) => (
        <>
          {/* The address can be corrected only if a single mail is chosen. */}
          {mails.length === 1 && mails[0] ? <MailAgain mail={mails[0]} onDone={readAgain} /> : actButton("replay", ask)}
          {actsOn(mails).includes("discard") && actButton("discard", ask)}
        </>
      )}
    />
  );
}
