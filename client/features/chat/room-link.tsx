import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { filesPath } from "#client/lib/files-path.ts";

/** Where something was refused for want of room: leads to what takes it. Nothing beside other refusals. */
export function RoomLink({ code }: { code: string | null }) {
  const { t } = useTranslation("files");
  if (code !== "storage_full") return null;
  return (
    <LinkButton href={filesPath} size="small">
      {t("all")}
    </LinkButton>
  );
}
