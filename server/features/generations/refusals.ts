/** Why a question is refused: the errors that its sender gets. */
import { DomainError } from "#domain/errors.ts";
import type { Model } from "#domain/models.ts";
import { currency, plans } from "#domain/plans.ts";
import type { Entitlement } from "../billing/entitlement.ts";
import type { StartOutcome } from "./starts.ts";

export function notInTrial(model: Model): DomainError {
  const { monthlyPriceCents } = plans.starter;
  const price = (monthlyPriceCents / 100).toLocaleString("en", { style: "currency", currency });
  const message = `The free trial covers small text models, and ${model.name} is not one of them. Plans begin at ${price} a month`;
  return new DomainError("model_not_in_trial", message, { model: model.id, monthlyPriceCents });
}

/** Returns the reason to refuse a price that the person wants to be asked about, and was not. */
export function findUnconfirmed({ askAboveCredits }: Entitlement, quotedCredits: number, confirmed = false): DomainError | undefined {
  if (confirmed || askAboveCredits === null || quotedCredits <= askAboveCredits) return undefined;
  const message = `This costs ${quotedCredits} credits, and you want to be asked above ${askAboveCredits}. Confirm the price`;
  return new DomainError("confirmation_required", message, { quotedCredits });
}

export function keyConflict(): DomainError {
  return new DomainError("idempotency_conflict", "The same key was used for something else");
}

export function noPlace(): DomainError {
  return new DomainError("not_found", "There is no such conversation, or no such message in it");
}

export function refusalOf(result: StartOutcome, needed: number): DomainError {
  switch (result.outcome) {
    case "conflict":
      return keyConflict();
    case "no_conversation":
      return noPlace();
    case "too_many_answers":
      return new DomainError("too_many_answers", "Other answers are still under way. Wait for one to end, or stop it", {
        retryAfterSeconds: 5,
      });
    case "rate_limited": {
      const retryAfterSeconds = Math.max(Math.ceil((result.retry_after_ms ?? 0) / 1_000), 1);
      return new DomainError("rate_limited", `Your plan's rate is used up. Try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
    }
    case "daily_cap_reached":
      return new DomainError("daily_cap_reached", "This would go past your daily cap. A new day begins at midnight UTC");
    case "wallet_frozen":
      return new DomainError("wallet_frozen", "The wallet is frozen while a payment is disputed");
    default: {
      const available = result.available ?? 0;
      return new DomainError("insufficient_credits", `This needs ${needed} credits; ${available} are available`, { needed, available });
    }
  }
}

/** A model whose provider has failed again and again, until its next try. */
export function outOfOrder(model: Model, waitMs: number): DomainError {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  const message = `${model.name} is temporarily unavailable. The next try is in ${retryAfterSeconds} s`;
  return new DomainError("model_unavailable", message, { retryAfterSeconds });
}

export function unavailable(): DomainError {
  return new DomainError("service_unavailable", "The service is restarting. Try again in a moment", { retryAfterSeconds: 2 });
}
