import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { AdminModel } from "#contract/admin/models.ts";
import { useModelPrice } from "./use-model-price.ts";

/** For two admins who change the prices of a model: the second is told which ones are planned by now, and keeps what was entered. */
export function usePricesMeanwhile({ id: modelId }: Pick<AdminModel, "id">) {
  const { t } = useTranslation("admin");
  const { list } = useFormat();
  const { date } = useUtc();
  const priceOf = useModelPrice();
  const words = useRef<string>(undefined);

  function tell(model: AdminModel | undefined): void {
    if (!model) return;
    const planned = model.prices.flatMap(({ beginsOn, credits, state }) =>
      state === "planned" && beginsOn !== null ? [`${priceOf(model, credits)} ${t("models.prices.since", { date: date(beginsOn) })}`] : [],
    );
    words.current = planned.length === 0 ? t("models.prices.noneToCome") : t("models.prices.meanwhile", { prices: list(planned) });
  }

  /** Makes the call. After a conflict it reads the prices before it throws. */
  async function change(call: () => Promise<unknown>): Promise<unknown> {
    words.current = undefined;
    try {
      return await call();
    } catch (error) {
      if (error instanceof ApiProblem && error.code === "conflict")
        await api("GET /api/admin/models").then(
          ({ rows }) => tell(rows.find(({ id }) => id === modelId)),
          () => undefined,
        );
      throw error;
    }
  }
  return { change, wordsOf: () => words.current };
}
