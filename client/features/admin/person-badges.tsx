import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import type { PersonRow } from "#contract/admin/people.ts";

/** What is special about an account. */
export function PersonBadges({ person: { role, bannedAt, deleteAt } }: { person: PersonRow }) {
  const { t } = useTranslation("admin");
  return (
    <>
      {role !== "user" && <Badge tone="accent">{t(`role.${role}`)}</Badge>}
      {bannedAt !== null && <Badge tone="danger">{t("people.banned")}</Badge>}
      {deleteAt !== null && <Badge tone="warning">{t("people.deleting")}</Badge>}
    </>
  );
}
