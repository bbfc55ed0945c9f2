import { useTranslation } from "react-i18next";
import styles from "./gallery.module.css";
import { Gallery } from "./gallery.tsx";

/** A section of the account, in a chunk of its own. */
export function GallerySection({ conversationPath }: { conversationPath: (id: string) => string }) {
  const { t } = useTranslation("pictures");
  return (
    <>
      <p className={styles.details}>{t("gallery.lead")}</p>
      <Gallery conversationPath={conversationPath} />
    </>
  );
}
