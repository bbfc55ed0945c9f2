/** The address has an account already: its owner signs in in their own way first. */
export interface OwnWay {
  step: "own-way";
  email: string;
}

/** How far a sign-in with Google is on this page. */
export type GoogleState = { step: "finish" } | OwnWay | { step: "refused"; code: string };

/** What Google sent the browser back with: the query parameter `google` is `sign-in` or the code of a refusal. */
export function readGoogleState(search: URLSearchParams): GoogleState | null {
  const value = search.get("google");
  if (value === null) return null;
  return value === "sign-in" ? { step: "finish" } : { step: "refused", code: value };
}
