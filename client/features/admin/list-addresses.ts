import { useEffect } from "react";
import { useLocation, useSearch } from "wouter";

/** How each list was last looked at: its filters, order and page, by its path. The way back from a row leads there. */
const searches = new Map<string, string>();

/** Keeps how the list at this address is looked at. */
export function useKeptAddress(): void {
  const [pathname] = useLocation();
  const search = useSearch();
  useEffect(() => {
    searches.set(pathname, search);
  }, [pathname, search]);
}

export function listAddress(pathname: string): string {
  const search = searches.get(pathname);
  return search ? `${pathname}?${search}` : pathname;
}
