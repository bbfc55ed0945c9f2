import { useMemo } from "react";
import { validate as isUuid } from "uuid";
import { useSearchParams } from "wouter";
import type { LedgerFilter } from "#contract/credits/ledger.ts";

export const lineKinds = ["grant", "capture", "expire", "clawback", "restore"] as const satisfies readonly LedgerFilter["kind"][];
export const directions = ["in", "out"] as const satisfies readonly LedgerFilter["direction"][];

const day = /^\d{4}-\d{2}-\d{2}$/;

function oneOf<Value extends string>(values: readonly Value[], given: string | null): Value | undefined {
  return values.find((value) => value === given);
}

function given(text: string | null, isValid: (text: string) => boolean): string | undefined {
  return text !== null && isValid(text) ? text : undefined;
}

const isDay = (text: string) => day.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);

/** The filter in an address. Invalid values are left out, because people edit addresses. */
function filterOf(search: URLSearchParams): LedgerFilter {
  const filter: LedgerFilter = {};
  const kind = oneOf(lineKinds, search.get("kind"));
  const direction = oneOf(directions, search.get("direction"));
  const model = given(search.get("model"), ({ length }) => length > 0 && length <= 100);
  const grant = given(search.get("grant"), isUuid);
  const from = given(search.get("from"), isDay);
  const to = given(search.get("to"), isDay);
  return Object.assign(
    filter,
    kind && { kind },
    direction && { direction },
    model && { model },
    grant && { grant },
    from && { from },
    to && { to },
  );
}

const names = ["kind", "direction", "model", "grant", "from", "to"] as const;

/** The filter of the history, which is kept in the address. */
export function useFilter() {
  const [search, setSearch] = useSearchParams();
  const query = search.toString();
  const filter = useMemo(() => filterOf(new URLSearchParams(query)), [query]);

  function change(next: LedgerFilter): void {
    setSearch(
      (before) => {
        const changed = new URLSearchParams(before);
        for (const name of names) {
          const value = next[name];
          if (value) changed.set(name, value);
          else changed.delete(name);
        }
        return changed;
      },
      { replace: true },
    );
  }
  return { filter, change, isFiltered: Object.keys(filter).length > 0 };
}
