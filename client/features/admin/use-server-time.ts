import { useEffect, useState } from "react";
import { api } from "#client/lib/api.ts";

/** Business time when this was opened, in milliseconds; this device's if the server did not say. */
export function useServerTime(): number | undefined {
  const [now, setNow] = useState<number>();
  useEffect(() => {
    api("GET /api/environment").then(
      ({ serverTime }) => setNow(Date.parse(serverTime)),
      () => setNow(Date.now()),
    );
  }, []);
  return now;
}
