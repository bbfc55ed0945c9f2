import { Suspense } from "react";
import { useFactorReset } from "./features/account/reset-store.ts";
import { useSubscription } from "./features/billing/subscription-store.ts";
import { useEnvironment } from "./features/environment/environment-store.ts";
import { OfflineNotice } from "./features/frame/offline-notice.tsx";
import { useFetched } from "./lib/use-fetched.ts";

const loadResetNotice = async () => (await import("./features/account/reset-notice.tsx")).ResetNotice;
const loadUnpaidNotice = async () => (await import("./features/billing/unpaid-notice.tsx")).UnpaidNotice;
const loadTeamNotice = async () => (await import("./features/environment/team-notice.tsx")).TeamNotice;
const loadLowCreditsNotice = async () => (await import("./features/billing/low-credits-notice.tsx")).LowCreditsNotice;

/** What every page says above its content when it has to. */
export function Notices() {
  const notice = useEnvironment((state) => state.notice);
  const TeamNotice = useFetched(notice !== null, loadTeamNotice);
  const { reset } = useFactorReset();
  const ResetNotice = useFetched(reset !== null, loadResetNotice);
  const unpaid = useSubscription(({ check }) => check?.unpaid);
  const UnpaidNotice = useFetched(unpaid !== undefined, loadUnpaidNotice);
  const low = useSubscription(({ check }) => (check?.spent_percent === undefined ? undefined : check));
  const LowCreditsNotice = useFetched(low !== undefined, loadLowCreditsNotice);
  return (
    <>
      <OfflineNotice />
      <Suspense fallback={null}>
        {TeamNotice && notice && <TeamNotice notice={notice} />}
        {ResetNotice && reset && <ResetNotice reset={reset} />}
        {UnpaidNotice && unpaid && <UnpaidNotice unpaid={unpaid} />}
        {LowCreditsNotice && low && <LowCreditsNotice check={low} />}
      </Suspense>
    </>
  );
}
