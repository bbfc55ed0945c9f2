import i18next from "i18next";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { problemText } from "#client/i18n/problem-text.ts";
import { paths } from "#client/paths.ts";
import { lateModule } from "./late-module.ts";
import type { RefusalProps } from "./refusal-ways.tsx";
import { useSecondsUntil } from "./use-seconds-until.ts";

function Wait({ untilMs }: { untilMs: number }) {
  const { t } = useTranslation("chat");
  const seconds = useSecondsUntil(untilMs);
  return <>{seconds > 0 ? t("refusal.wait", { count: seconds }) : t("refusal.ready")}</>;
}

const ownTexts: Readonly<Record<string, "refusal.network" | "refusal.networkAgain" | "refusal.stopFailed" | "refusal.busy">> = {
  network: "refusal.network",
  stop_failed: "refusal.stopFailed",
  unexpected: "refusal.busy",
};

/** The server sends these, so there is a connection to load the rest with. */
const withWays: readonly string[] = [
  "insufficient_credits",
  "price_changed",
  "confirmation_required",
  "daily_cap_reached",
  "model_not_in_trial",
  "model_unavailable",
  "storage_full",
];
/** With their texts. */
const useRefusalWays = lateModule(async () => {
  await i18next.loadNamespaces("dialogs");
  return import("./refusal-ways.tsx");
});

/** Why the last send was refused, and what the person can do. Shown right above the composer, which has the prompt again. */
export function RefusalView(props: RefusalProps) {
  const { t } = useTranslation(["chat", "errors", "refusals", "uploads"]);
  const { refusal, onDismiss } = props;
  const { code, retryAtMs, again } = refusal;
  const ways = useRefusalWays(withWays.includes(code));
  const plans = (
    <LinkButton href={paths.pricing} size="small" variant="primary">
      {t("chat:refusal.upgrade")}
    </LinkButton>
  );
  const dismiss = (
    <Button size="small" variant="quiet" onClick={onDismiss}>
      {t("chat:refusal.dismiss")}
    </Button>
  );
  const own = code === "network" && again ? "refusal.networkAgain" : ownTexts[code];
  const why = (
    <Alert tone="warning" action={code === "subscription_required" ? plans : dismiss}>
      {retryAtMs !== undefined ? <Wait untilMs={retryAtMs} /> : own ? t(`chat:${own}`) : problemText(code, refusal)}
    </Alert>
  );
  return ways ? <ways.RefusalWays {...props} {...{ plans, dismiss, why }} /> : why;
}
