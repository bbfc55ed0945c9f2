import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { ApiProblem, api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { MailRow, MailsQuery, PersonRow } from "#contract/admin/people.ts";
import type { TeamRole } from "#domain/team.ts";
import { ActDialog } from "./act-dialog.tsx";
import { Coded } from "./coded.tsx";
import { DataTable } from "./data-table.tsx";
import { languageName, mailTones } from "./inbox-names.ts";
import styles from "./person.module.css";
import type { TableQuery } from "./use-table.ts";
import { useWords } from "./use-words.ts";

interface AgainDialogProps {
  person: PersonRow;
  mail: MailRow;
  onClose: () => void;
  onDone: () => void;
}

/** Sends a receipt or a contract again. */
function AgainDialog({ person: { id: userId, email }, mail, onClose, onDone }: AgainDialogProps) {
  const { t } = useTranslation("admin");
  // A try that is repeated after a broken connection sends nothing twice.
  const [key] = useState(() => crypto.randomUUID());
  return (
    <ActDialog
      title={t("person.again.title")}
      action={t("person.again.title")}
      onClose={onClose}
      onDone={onDone}
      wordsOf={(error) => (error instanceof ApiProblem && error.code === "conflict" ? t("person.again.over") : undefined)}
      act={(reason) =>
        api("POST /api/admin/people/:userId/mails/:mailId/again", { params: { userId, mailId: mail.id }, body: { reason, key } })
      }
    >
      <p>{t("person.again.text", { email })}</p>
    </ActDialog>
  );
}

/** What the person was mailed. Admins send a receipt or a contract again. */
export function MailsTab({ person, role }: { person: PersonRow; role: TeamRole }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const { id: userId } = person;
  const words = useWords();
  const [asked, setAsked] = useState<MailRow>();
  const [version, setVersion] = useState(0);
  const load = useCallback(
    (query: TableQuery, signal: AbortSignal) =>
      api("GET /api/admin/people/:userId/mails", { params: { userId }, querystring: query as MailsQuery, signal }),
    [userId],
  );
  const sentCell = (mail: MailRow) => (
    <span className={styles.inCell}>
      {mail.sentAt === null ? <Badge tone={mailTones[mail.state]}>{t(`person.mailState.${mail.state}`)}</Badge> : dateTime(mail.sentAt)}
      {mail.canResend && role === "admin" && (
        <Button size="small" variant="quiet" onClick={() => setAsked(mail)}>
          {t("person.again.title")}
        </Button>
      )}
    </span>
  );
  return (
    <>
      <DataTable
        key={version}
        list="person-mails"
        label={t("person.tabs.mails")}
        columns={[
          { name: "template", label: t("person.template"), cell: ({ template }) => <Coded word={words.mail(template)} code={template} /> },
          { name: "time", label: t("audit.time"), cell: ({ createdAt }) => dateTime(createdAt), sort: "time", isTime: true },
          { name: "sent", label: t("person.sent"), cell: sentCell },
          { name: "language", label: t("person.language"), cell: ({ language }) => languageName(language) },
        ]}
        filters={[{ name: "template", label: t("person.template"), options: words.mails() }]}
        load={load}
        download={(query) =>
          apiResponse("GET /api/admin/people/:userId/mails.csv", { params: { userId }, querystring: query as MailsQuery })
        }
        empty={t("person.noMails")}
      />
      {asked && (
        <AgainDialog
          person={person}
          mail={asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            setVersion(version + 1);
          }}
        />
      )}
    </>
  );
}
