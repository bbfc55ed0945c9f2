import { useFormat } from "#client/lib/use-format.ts";
import type { AdminModel } from "#contract/admin/models.ts";
import type { Model } from "#domain/models.ts";

export function useModelPrice() {
  const { modelPrice } = useFormat();
  return ({ unit }: Pick<AdminModel, "unit">, credits: number) => modelPrice({ credits, unit: unit as Model["unit"] });
}
