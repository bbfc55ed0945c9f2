import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { filesPath } from "#client/lib/files-path.ts";

/** After a refusal because the storage is full, links to the list of files. Renders nothing for other refusals. */
export function RoomLink({ code }: { code: string | null }) {
  const { t } = useTranslation("files");
  if (code !== "storage_full") return null;
  return (
    <LinkButton href={filesPath} size="small">
      {t("all")}
    </LinkButton>
  );
}
