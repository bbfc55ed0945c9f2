import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { LinkButton } from "#client/components/button.tsx";
import { formatBytes } from "#client/lib/format-bytes.ts";
import { paths } from "#client/paths.ts";
import styles from "./files.module.css";
import type { Space } from "./use-room.ts";

/** How full the person's storage is. The bar shows at least a hundredth, so that a little doesn't look like nothing. */
export function SpaceBar({ space: { usedBytes, allowedBytes } }: { space: Space }) {
  const { t, i18n } = useTranslation("room");
  const sizeOf = (bytes: number) => formatBytes(bytes, i18n.language);
  const used = t("used", { used: sizeOf(usedBytes), allowed: sizeOf(allowedBytes) });
  const isFull = usedBytes >= allowedBytes;
  const shown = usedBytes === 0 ? 0 : Math.max(usedBytes, allowedBytes / 100);
  return (
    <div className={styles.space}>
      <p className={styles.figures}>
        <strong>{used}</strong>
        <span>{isFull ? t("noneFree") : t("free", { free: sizeOf(allowedBytes - usedBytes) })}</span>
      </p>
      <meter
        className={styles.bar}
        aria-label={t("space")}
        aria-valuetext={used}
        min={0}
        max={allowedBytes}
        value={shown}
        data-full={isFull || undefined}
      />
      {isFull && (
        <Alert
          tone="warning"
          action={
            <LinkButton href={paths.pricing} size="small">
              {t("plans")}
            </LinkButton>
          }
        >
          {t("full")}
        </Alert>
      )}
    </div>
  );
}
