import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { EmailField, Select } from "#client/components/field.tsx";
import { api, apiResponse } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { SetRole, TeamMember, TeamQuery } from "#contract/admin/team.ts";
import type { Role, TeamRole } from "#domain/team.ts";
import { teamRoles } from "#domain/team.ts";
import { ActDialog } from "./act-dialog.tsx";
import { AdminHead } from "./admin-frame.tsx";
import type { Column } from "./data-table.tsx";
import { DataTable } from "./data-table.tsx";
import styles from "./person.module.css";
import type { TableQuery } from "./use-table.ts";

type Change = Omit<SetRole, "reason">;

const load = (query: TableQuery, signal: AbortSignal) => api("GET /api/admin/team", { querystring: query as TeamQuery, signal });
const download = (query: TableQuery) => apiResponse("GET /api/admin/team.csv", { querystring: query as TeamQuery });
const setRole = (body: SetRole) => api("PUT /api/admin/team", { body });

function AddDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation("admin");
  const [email, setEmail] = useState("");
  const [role, setChosen] = useState<TeamRole>("support");
  return (
    <ActDialog
      title={t("team.add")}
      action={t("team.add")}
      ready={email.trim() !== ""}
      onClose={onClose}
      onDone={onDone}
      act={(reason) => setRole({ email, was: "user", role, reason })}
    >
      <EmailField
        label={t("team.email")}
        hint={t("team.emailHint")}
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Select
        label={t("team.role")}
        hint={t(`team.explain.${role}`)}
        value={role}
        onChange={(event) => setChosen(event.target.value as TeamRole)}
        options={teamRoles.map((value) => ({ value, label: t(`role.${value}`) }))}
      />
    </ActDialog>
  );
}

function ChangeDialog({ change, onClose, onDone }: { change: Change; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation("admin");
  const { email, was, role } = change;
  const title = role === "user" ? t("team.remove") : t("team.make", { role: t(`role.${role}`) });
  return (
    <ActDialog
      title={title}
      action={title}
      danger={role === "user"}
      onClose={onClose}
      onDone={onDone}
      act={(reason) => setRole({ email, was, role, reason })}
    >
      <p>{role === "user" ? t("team.removeText", { email }) : t("team.makeText", { email, role: t(`role.${role}`) })}</p>
    </ActDialog>
  );
}

function Who({ member: { email, hasSecondFactor } }: { member: TeamMember }) {
  const { t } = useTranslation("admin");
  return (
    <span className={styles.who}>
      {email}
      {!hasSecondFactor && <Badge tone="warning">{t("team.noFactor")}</Badge>}
    </span>
  );
}

function Acts({ member: { role, isNamed }, onChange }: { member: TeamMember; onChange: (role: Role) => void }) {
  const { t } = useTranslation("admin");
  const other: TeamRole = role === "admin" ? "support" : "admin";
  if (isNamed && role === "admin") return <span className={styles.soft}>{t("team.named")}</span>;
  return (
    <span className={styles.acts}>
      <Button size="small" onClick={() => onChange(other)}>
        {t("team.make", { role: t(`role.${other}`) })}
      </Button>
      <Button size="small" variant="quiet" onClick={() => onChange("user")}>
        {t("team.remove")}
      </Button>
    </span>
  );
}

function useColumns(change: ((change: Change) => void) | undefined): readonly [Column<TeamMember>, ...Column<TeamMember>[]] {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const acts: Column<TeamMember>[] = change
    ? [
        {
          name: "acts",
          label: t("team.change"),
          cell: (member) => <Acts member={member} onChange={(role) => change({ email: member.email, was: member.role, role })} />,
        },
      ]
    : [];
  return [
    { name: "email", label: t("people.email"), cell: (member) => <Who member={member} />, sort: "email" },
    { name: "name", label: t("people.name"), cell: ({ name }) => name },
    {
      name: "role",
      label: t("team.role"),
      cell: ({ role }) => <Badge tone={role === "admin" ? "accent" : "neutral"}>{t(`role.${role}`)}</Badge>,
    },
    {
      name: "lastSignIn",
      label: t("people.lastSignIn"),
      cell: ({ lastSignInAt }) => (lastSignInAt === null ? t("team.never") : dateTime(lastSignInAt)),
      sort: "lastSignIn",
      isTime: true,
    },
    ...acts,
    { name: "id", label: t("people.id"), cell: ({ id }) => id, isExtra: true },
  ];
}

/** Who may open the panel, and as what. Only admins change it. */
export function TeamSection({ role }: { role: TeamRole }) {
  const { t } = useTranslation("admin");
  const [change, setChange] = useState<Change | "add">();
  const [version, setVersion] = useState(0);
  const isAdmin = role === "admin";
  const columns = useColumns(isAdmin ? setChange : undefined);
  const close = () => setChange(undefined);
  const done = () => {
    close();
    setVersion(version + 1);
  };
  return (
    <>
      <AdminHead title={t("sections.team")} lead={t("team.lead")}>
        {isAdmin && (
          <Button size="small" variant="primary" onClick={() => setChange("add")}>
            {t("team.add")}
          </Button>
        )}
      </AdminHead>
      <DataTable
        key={version}
        list="team"
        label={t("sections.team")}
        columns={columns}
        filters={[{ name: "role", label: t("team.role"), options: teamRoles.map((value) => ({ value, label: t(`role.${value}`) })) }]}
        load={load}
        download={download}
        empty={t("table.nothing")}
      />
      {change === "add" && <AddDialog onClose={close} onDone={done} />}
      {change !== undefined && change !== "add" && <ChangeDialog change={change} onClose={done} onDone={done} />}
    </>
  );
}
