import { Download } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button } from "#client/components/button.tsx";
import { useAct } from "#client/components/use-act.ts";
import { saveFile } from "#client/lib/save-file.ts";

/** As the server names the file: by its list and the day. */
const nameOf = (response: Response) => /filename="([\w.-]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "tessera.csv";

/** Saves what the server sends as CSV. `note` says what went wrong, to be shown where there is room for it. */
export function useCsv(download: () => Promise<Response>) {
  const { t } = useTranslation(["admin", "errors", "refusals"]);
  const { note, busy, waitSeconds, run } = useAct<"download">();
  const save = async () => {
    const response = await download();
    saveFile(await response.blob(), nameOf(response));
  };
  const button = (
    <Button
      size="small"
      variant="quiet"
      busy={busy !== undefined}
      aria-disabled={waitSeconds > 0}
      onClick={() => void run("download", save)}
    >
      {busy === undefined && <Download size={16} aria-hidden="true" />}
      {t("admin:table.csv")}
    </Button>
  );
  return { note, button };
}
