import { useCallback, useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";
import type { Setting, SettingsPage } from "#contract/settings.ts";

/** The settings and the environment; undefined until the server has answered. While they are read again, the old ones stay visible. */
export function useSettings() {
  const [page, setPage] = useState<SettingsPage | "failed">();
  /** True if it could be read. */
  const look = useCallback(
    () =>
      api("GET /api/admin/settings").then(
        (answer) => {
          setPage(answer);
          return true;
        },
        () => {
          setPage((before) => before ?? "failed");
          return false;
        },
      ),
    [],
  );
  useEffect(() => void look(), [look]);
  const show = (changed: Setting) =>
    setPage((before) =>
      before === undefined || before === "failed"
        ? before
        : { ...before, settings: before.settings.map((setting) => (setting.name === changed.name ? changed : setting)) },
    );
  return { page, look, show };
}
