import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { useFormat } from "#client/lib/use-format.ts";
import { useFormQueue } from "#client/offline/use-form-queue.ts";

/** Shows the forms that wait for a connection and those sent since, also from other pages and earlier visits. */
export function FormQueue({ owner }: { owner: string | null | undefined }) {
  const { t, ready } = useTranslation(["offline", "contact"], { useSuspense: false });
  const { dateTime } = useFormat();
  const { waiting, sent } = useFormQueue(owner);
  if (!ready) return null;
  return (
    <>
      {waiting.map(({ id, queuedAtMs }) => (
        <Alert key={id} title={t("contact:queued.title")}>
          {t("offline:queue.waiting", { date: dateTime(new Date(queuedAtMs)) })}
        </Alert>
      ))}
      {sent.map(({ id, queuedAtMs, sentAtMs }) => (
        <Alert key={id} tone="good" title={t("contact:sent.title")}>
          {t("offline:queue.sent", { date: dateTime(new Date(queuedAtMs)), sent: dateTime(new Date(sentAtMs)) })}
        </Alert>
      ))}
    </>
  );
}
