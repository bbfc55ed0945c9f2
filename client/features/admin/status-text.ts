/** The name of the text for a subscription's state, among those of the account. */
export function statusText(status: string | null): "active" | "pastDue" | "inactive" {
  return status === "active" ? "active" : status === "past_due" ? "pastDue" : "inactive";
}
