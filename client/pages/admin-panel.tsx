import type { ComponentType } from "react";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { EmptyState } from "#client/components/empty-state.tsx";
import { Page } from "#client/components/page.tsx";
import { PageSpinner } from "#client/components/spinner.tsx";
import { StepUpDialog } from "#client/features/account/step-up-dialog.tsx";
import { AdminFrame } from "#client/features/admin/admin-frame.tsx";
import type { SectionName } from "#client/features/admin/sections.ts";
import { placeOf } from "#client/features/admin/sections.ts";
import { useEnvironment } from "#client/features/environment/environment-store.ts";
import { ApiProblem, api } from "#client/lib/api.ts";
import { securityPath } from "#client/lib/security-path.ts";
import type { User } from "#contract/auth/sign-in.ts";
import type { TeamRole } from "#domain/team.ts";
import { NotFoundLater } from "./not-found-later.tsx";

export interface SectionProps {
  role: TeamRole;
  /** What the address names below the section. */
  id: string | undefined;
  tab: string | undefined;
}

/** Each in a chunk of its own. */
const sections: Record<SectionName, ComponentType<SectionProps>> = {
  overview: lazy(async () => ({ default: (await import("#client/features/admin/overview-section.tsx")).OverviewSection })),
  needs: lazy(async () => ({ default: (await import("#client/features/admin/needs-section.tsx")).NeedsSection })),
  inbox: lazy(async () => ({ default: (await import("#client/features/admin/inbox-section.tsx")).InboxSection })),
  people: lazy(async () => ({ default: (await import("#client/features/admin/people-section.tsx")).PeopleSection })),
  models: lazy(async () => ({ default: (await import("#client/features/admin/models-section.tsx")).ModelsSection })),
  work: lazy(async () => ({ default: (await import("#client/features/admin/work-section.tsx")).WorkSection })),
  campaigns: lazy(async () => ({ default: (await import("#client/features/admin/campaigns-section.tsx")).CampaignsSection })),
  settings: lazy(async () => {
    const { SettingsSection } = await import("#client/features/admin/settings-section.tsx");
    // Whoever puts up a notice sees it at once.
    return { default: () => <SettingsSection onChange={() => void useEnvironment.getState().load()} /> };
  }),
  team: lazy(async () => ({ default: (await import("#client/features/admin/team-section.tsx")).TeamSection })),
  audit: lazy(async () => ({ default: (await import("#client/features/admin/audit-section.tsx")).AuditSection })),
};

type Access = { status: "asking" | "factor" | "nobody" | "failed" } | { status: "role"; role: TeamRole };

function accessOf(error: unknown): Access {
  if (!(error instanceof ApiProblem)) return { status: "failed" };
  if (error.code === "second_factor_needed") return { status: "factor" };
  return { status: error.code === "not_found" ? "nobody" : "failed" };
}

/** The server decides with every call; this is what it said when the panel was opened. */
function useAccess(): { access: Access; ask: () => void } {
  const [access, setAccess] = useState<Access>({ status: "asking" });
  const ask = useCallback(() => {
    setAccess({ status: "asking" });
    api("GET /api/admin/me").then(
      ({ role }) => setAccess({ status: "role", role }),
      (error: unknown) => setAccess(accessOf(error)),
    );
  }, []);
  useEffect(ask, [ask]);
  return { access, ask };
}

function Sections({ user, role }: { user: User; role: TeamRole }) {
  const { t } = useTranslation("admin");
  const [pathname] = useLocation();
  const place = placeOf(pathname, role);
  if (!place) return <NotFoundLater />;
  const Section = sections[place.section];
  return (
    <Page title={t("title", { section: t(`sections.${place.section}`) })} indexable={false} width="bare">
      <AdminFrame role={role} current={place.section}>
        <Suspense key={place.section} fallback={<PageSpinner />}>
          <Section role={role} id={place.id} tab={place.tab} />
        </Suspense>
      </AdminFrame>
      <StepUpDialog email={user.email} />
    </Page>
  );
}

export function AdminPanel({ user }: { user: User }) {
  const { t } = useTranslation(["admin", "common"]);
  const { access, ask } = useAccess();
  if (access.status === "asking") return <PageSpinner />;
  if (access.status === "nobody") return <NotFoundLater />;
  if (access.status === "role") return <Sections user={user} role={access.role} />;
  const setUp = (
    <LinkButton href={securityPath} variant="primary">
      {t("factor.action")}
    </LinkButton>
  );
  const again = (
    <Button size="small" onClick={ask}>
      {t("common:retry")}
    </Button>
  );
  return (
    <Page title={t("factor.title")} indexable={false} width="narrow">
      {access.status === "factor" ? (
        <EmptyState title={t("factor.title")} action={setUp}>
          {t("factor.text")}
        </EmptyState>
      ) : (
        <Alert tone="warning" action={again}>
          {t("failed")}
        </Alert>
      )}
    </Page>
  );
}
