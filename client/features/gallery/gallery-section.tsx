import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { api } from "#client/lib/api.ts";
import { filesPath } from "#client/lib/files-path.ts";
import { formatBytes } from "#client/lib/format-bytes.ts";
import styles from "./gallery.module.css";
import { Gallery } from "./gallery.tsx";

interface Space {
  usedBytes: number;
  allowedBytes: number;
}

/** How much room the person's files take, attached ones too. Without it the gallery works as well. */
function SpaceLine() {
  const { t, i18n } = useTranslation("pictures");
  const [space, setSpace] = useState<Space>();
  useEffect(() => {
    let current = true;
    api("GET /api/files", { querystring: { kind: "output", limit: 1 } }).then(
      (found) => current && setSpace(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, []);
  if (!space) return null;
  const [used, allowed] = [formatBytes(space.usedBytes, i18n.language), formatBytes(space.allowedBytes, i18n.language)];
  return (
    <p className={styles.details}>
      {t("gallery.space", { used, allowed })} <Link href={filesPath}>{t("gallery.files")}</Link>
    </p>
  );
}

/** A section of the account, in a chunk of its own. */
export function GallerySection({ conversationPath }: { conversationPath: (id: string) => string }) {
  const { t } = useTranslation("pictures");
  return (
    <>
      <p className={styles.details}>{t("gallery.lead")}</p>
      <SpaceLine />
      <Gallery conversationPath={conversationPath} />
    </>
  );
}
