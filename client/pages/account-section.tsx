import type { ReactNode } from "react";
import { Fragment, lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { Redirect, useParams, useSearchParams } from "wouter";
import { PageSpinner } from "#client/components/spinner.tsx";
import { AccountPage, SectionHead } from "#client/features/account/account-page.tsx";
import type { AccountSection } from "#client/features/account/account-sections.tsx";
import { sectionPaths } from "#client/features/account/account-sections.tsx";
import { ActivityPanel } from "#client/features/account/activity-panel.tsx";
import type { PaidPlan } from "#client/features/account/deletion-panel.tsx";
import { DeletionPanel } from "#client/features/account/deletion-panel.tsx";
import { ExportPanel } from "#client/features/account/export-panel.tsx";
import { Goodbye } from "#client/features/account/goodbye.tsx";
import { GoogleReturn } from "#client/features/account/google-return.tsx";
import { FixedMailsPanel, MailChoicesPanel } from "#client/features/account/notifications-panel.tsx";
import { PasskeysPanel } from "#client/features/account/passkeys-panel.tsx";
import { SessionsPanel } from "#client/features/account/sessions-panel.tsx";
import { StepUpDialog } from "#client/features/account/step-up-dialog.tsx";
import { SupportPanel } from "#client/features/account/support-panel.tsx";
import { TwoStepPanel } from "#client/features/account/two-step-panel.tsx";
import { Unsubscribe } from "#client/features/account/unsubscribe.tsx";
import { WaysInPanel } from "#client/features/account/ways-in-panel.tsx";
import { useSubscription } from "#client/features/billing/subscription-store.ts";
import { conversationPath } from "#client/features/chat/conversation-path.ts";
import { useEnvironment } from "#client/features/environment/environment-store.ts";
import { paths } from "#client/paths.ts";
import type { User } from "#contract/auth/sign-in.ts";
import { plans } from "#domain/plans.ts";

function WaysIn({ email }: { email: string }) {
  const google = useEnvironment((environment) => environment.google === true);
  return <WaysInPanel email={email} google={google} />;
}

type Section = Exclude<AccountSection, "overview">;

interface Means {
  plan: PaidPlan;
  onDeleted: (deleteAt: string) => void;
}

/** Fetched when they are opened. */
const BillingSection = lazy(async () => ({ default: (await import("./billing-section.tsx")).BillingSection }));
const UsageSection = lazy(async () => ({ default: (await import("#client/features/usage/usage-section.tsx")).UsageSection }));
const GallerySection = lazy(async () => ({ default: (await import("#client/features/gallery/gallery-section.tsx")).GallerySection }));

const FilesSection = lazy(async () => ({ default: (await import("#client/features/gallery/files-section.tsx")).FilesSection }));

const panels: Record<Section, (user: User, means: Means) => ReactNode> = {
  // The key starts the lists anew for another person, so that nobody sees another's.
  billing: (user) => (
    <Suspense fallback={<PageSpinner />}>
      <BillingSection key={user.id} />
    </Suspense>
  ),
  usage: (user) => (
    <Suspense fallback={<PageSpinner />}>
      <UsageSection key={user.id} />
    </Suspense>
  ),
  pictures: (user) => (
    <Suspense fallback={<PageSpinner />}>
      <GallerySection key={user.id} conversationPath={conversationPath} />
    </Suspense>
  ),
  files: (user) => (
    <Suspense fallback={<PageSpinner />}>
      <FilesSection key={user.id} conversationPath={conversationPath} />
    </Suspense>
  ),
  security: (user) => (
    <Fragment key={user.id}>
      <WaysIn email={user.email} />
      <PasskeysPanel userId={user.id} />
      <TwoStepPanel email={user.email} />
      <SessionsPanel />
      <ActivityPanel />
    </Fragment>
  ),
  notifications: (user) => (
    <Fragment key={user.id}>
      <MailChoicesPanel email={user.email} />
      <FixedMailsPanel />
    </Fragment>
  ),
  data: (user, means) => (
    <Fragment key={user.id}>
      <ExportPanel />
      <SupportPanel />
      <DeletionPanel email={user.email} {...means} />
    </Fragment>
  ),
};

function isSection(name: string | undefined): name is Section {
  return name !== undefined && name in panels;
}

function usePaidPlan(): PaidPlan {
  const check = useSubscription((state) => state.check);
  if (!check) return undefined;
  const { subscribed, subscription_tier: tier, subscription_end: until } = check;
  return subscribed && tier !== "none" && until !== null ? { name: plans[tier].name, until } : null;
}

/** The account's sections after its overview (profile.tsx). */
export function AccountSectionPage() {
  const { t } = useTranslation("account");
  const { section } = useParams();
  const [search] = useSearchParams();
  const token = search.get("unsubscribe");
  const plan = usePaidPlan();
  const [deleteAt, setDeleteAt] = useState<string>();
  if (deleteAt !== undefined) return <Goodbye deleteAt={deleteAt} />;
  if (!isSection(section)) return <Redirect to={paths.profile} replace />;
  if (section === "notifications" && token !== null) return <Unsubscribe token={token} />;
  const title = t(`sections.${section}`);
  // Somebody who is sent to sign in comes back to the same panel. In prerendering there is no address, and nobody is signed out.
  const panel = typeof location === "undefined" ? "" : location.hash;
  return (
    <AccountPage key={section} section={section} title={title} returnTo={sectionPaths[section] + panel}>
      {(user) => (
        <>
          <SectionHead title={title} />
          <GoogleReturn key={user.id} />
          {panels[section](user, { plan, onDeleted: setDeleteAt })}
          <StepUpDialog email={user.email} />
        </>
      )}
    </AccountPage>
  );
}
