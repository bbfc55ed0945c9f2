import { useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import { mostRows } from "#domain/tables.ts";

interface Colleague {
  value: string;
  label: string;
}

/** The team as the choices of a field, by name or, without one, address. Empty until it is known. */
export function useColleagues(): readonly Colleague[] {
  const [colleagues, setColleagues] = useState<readonly Colleague[]>([]);
  useEffect(() => {
    api("GET /api/admin/team", { querystring: { limit: mostRows } }).then(
      ({ rows }) => setColleagues(rows.map(({ id, name, email }) => ({ value: id, label: name ?? email }))),
      (error: unknown) => console.warn("Could not read who is of the team.", error),
    );
  }, []);
  return colleagues;
}
