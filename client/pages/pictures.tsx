import { useTranslation } from "react-i18next";
import { LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import { conversationPath } from "#client/features/chat/conversation-path.ts";
import { Gallery } from "#client/features/gallery/gallery.tsx";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";

/** The pictures that models have made for a person. Signed-out people are sent to sign in, and come back. */
export function PicturesPage() {
  const { t } = useTranslation(["pictures", "account"]);
  const { status, user } = useSession();
  if (status === "loading") return <PageSpinner />;
  const title = t("pictures:gallery.title");
  const signIn = (
    <LinkButton href={`${paths.auth}?return=${encodeURIComponent(paths.pictures)}`} variant="primary">
      {t("account:signIn")}
    </LinkButton>
  );
  return (
    <Page title={title}>
      <h1>{title}</h1>
      {user ? (
        <>
          <p>{t("pictures:gallery.lead")}</p>
          <Gallery key={user.id} conversationPath={conversationPath} />
        </>
      ) : (
        <EmptyState title={t("account:signedOutTitle")} action={signIn}>
          {t("account:signedOutText")}
        </EmptyState>
      )}
    </Page>
  );
}
