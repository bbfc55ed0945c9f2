import { Suspense } from "react";
import { useFetched } from "#client/lib/use-fetched.ts";
import { useSupportAccess } from "./use-support-access.ts";

const loadNotice = async () => (await import("./support-notice.tsx")).SupportNotice;

/** In the account's other sections, while a request of the team's waits for the person. Its words are fetched only then. */
export function SupportRequest() {
  const { state } = useSupportAccess();
  const Notice = useFetched(state.status === "known" && state.value.askedAt !== null, loadNotice);
  return <Suspense fallback={null}>{Notice && <Notice />}</Suspense>;
}
