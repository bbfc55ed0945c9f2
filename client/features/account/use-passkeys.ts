import { useCallback } from "react";
import { ApiProblem, api } from "#client/lib/api.ts";
import { withStepUp } from "#client/lib/step-up.ts";
import type { Passkey } from "#contract/auth/passkeys.ts";
import { tellSecurityNews } from "./security-news.ts";
import { useRead } from "./use-read.ts";

const readPasskeys = async () => (await api("GET /api/account/passkeys")).passkeys;

const webauthn = () => import("#client/lib/webauthn.ts");

/** Removes it. One that is gone already is fine too. False when the person gave up to show a factor. */
async function removeOne(id: string): Promise<boolean> {
  try {
    const answer = await withStepUp(() => api("DELETE /api/account/passkeys/:id", { params: { id } }));
    return answer !== undefined;
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== "not_found") throw error;
    return true;
  }
}

/** The person's passkeys. What changes them throws what its calls throw. */
export function usePasskeys(userId: string) {
  const { state, look } = useRead(readPasskeys);

  /** Returns the new passkey; undefined when the person gave up to show a factor. Throws PasskeyProblem too. */
  const add = useCallback(async (nameOf: (isApart: boolean) => string): Promise<Passkey | undefined> => {
    const { makePasskey } = await webauthn();
    const options = await withStepUp(() => api("POST /api/account/passkeys/options", { body: {} }));
    if (!options) return undefined;
    const { registration, isApart } = await makePasskey(options);
    const body = { registration, name: nameOf(isApart) };
    const passkey = await withStepUp(() => api("POST /api/account/passkeys", { body }));
    if (passkey) tellSecurityNews();
    return passkey;
  }, []);

  const rename = useCallback(async (id: string, name: string): Promise<void> => {
    await api("PATCH /api/account/passkeys/:id", { params: { id }, body: { name } });
    tellSecurityNews();
  }, []);

  /** False when the person gave up to show a factor. */
  const remove = useCallback(
    async (id: string): Promise<boolean> => {
      if (!(await removeOne(id))) return false;
      const left = await look();
      tellSecurityNews();
      if (left)
        void (await webauthn())
          .tellAccepted(
            userId,
            left.map(({ credentialId }) => credentialId),
          )
          .catch(() => undefined);
      return true;
    },
    [look, userId],
  );

  return { state, look, add, rename, remove };
}
