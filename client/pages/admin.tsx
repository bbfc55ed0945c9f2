import { lazy, Suspense } from "react";
import { PageSpinner } from "#client/components/spinner.tsx";
import { useTeamRole } from "#client/features/admin/use-team-role.ts";
import { useSession } from "#client/lib/use-session.ts";
import { NotFoundLater } from "./not-found-later.tsx";

/** Nobody but the team ever fetches it. */
const AdminPanel = lazy(async () => ({ default: (await import("./admin-panel.tsx")).AdminPanel }));

/** Everybody but the team sees the not-found page here, as at any address that does not exist. */
export function AdminPage() {
  const { status, user } = useSession();
  const role = useTeamRole(user?.id ?? null);
  if (status === "loading" || role === undefined) return <PageSpinner />;
  return (
    <Suspense fallback={<PageSpinner />}>{role === null || !user ? <NotFoundLater /> : <AdminPanel key={user.id} user={user} />}</Suspense>
  );
}
