/** The name of the text for a subscription's state, among those of the account. */
export function statusText(status: string | null): "active" | "pastDue" | "suspended" | "inactive" {
  if (status === "active" || status === "suspended") return status;
  return status === "past_due" ? "pastDue" : "inactive";
}
