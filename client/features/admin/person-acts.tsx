import { ChevronDown } from "lucide-react";
import { Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { Select, TextField } from "#client/components/field.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { PaymentCheck } from "#contract/billing/doctor.ts";
import { adjustments } from "#domain/adjustments.ts";
import { hourMs } from "#domain/clock.ts";
import { exportFileMs, exportsADay } from "#domain/periods.ts";
import { ActDialog } from "./act-dialog.tsx";
import { CheckResult } from "./check-result.tsx";
import { DropDown } from "./drop-down.tsx";
import { GiveBackDialog } from "./give-back-dialog.tsx";
import { OfferDialog } from "./offer-dialog.tsx";
import styles from "./person.module.css";
import { TransferDialog } from "./transfer-dialog.tsx";

const plainActs = ["signOut", "ban", "unban", "cancel", "resume", "export"] as const;
type PlainAct = (typeof plainActs)[number];
type Act = PlainAct | "giveBack" | "give" | "check" | "transfer" | "offer";

type Call = (userId: string, reason: string) => Promise<unknown>;
const calls: Record<PlainAct, Call> = {
  signOut: (userId, reason) => api("POST /api/admin/people/:userId/sign-out", { params: { userId }, body: { reason } }),
  ban: (userId, reason) => api("POST /api/admin/people/:userId/ban", { params: { userId }, body: { reason } }),
  unban: (userId, reason) => api("POST /api/admin/people/:userId/unban", { params: { userId }, body: { reason } }),
  cancel: (userId, reason) => api("POST /api/admin/people/:userId/cancel", { params: { userId }, body: { reason } }),
  export: (userId, reason) => api("POST /api/admin/people/:userId/export", { params: { userId }, body: { reason } }),
  resume: (userId, reason) => api("POST /api/admin/people/:userId/resume", { params: { userId }, body: { reason } }),
};
const dangerous: readonly PlainAct[] = ["ban", "cancel", "signOut"];

interface DialogProps {
  page: PersonPage;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

function GiveDialog({ page: { person, money }, ...closing }: DialogProps) {
  const { t } = useTranslation("admin");
  const { credits: creditsText, number } = useFormat();
  const [credits, setCredits] = useState("");
  const [days, setDays] = useState<string>(String(adjustments.days[1]));
  // A try that is repeated after a broken connection gives nothing twice.
  const [key] = useState(() => crypto.randomUUID());
  const most = Math.min(adjustments.mostAtOnce, money?.leftToGive ?? 0);
  const amount = Number(credits);
  const isAmount = Number.isInteger(amount) && amount > 0 && amount <= most;
  return (
    <ActDialog
      title={t("person.give.title")}
      action={t("person.give.action")}
      ready={isAmount}
      {...closing}
      act={(reason) =>
        api("POST /api/admin/people/:userId/credits", {
          params: { userId: person.id },
          body: { credits: amount, days: adjustments.days.find((each) => String(each) === days) ?? adjustments.days[1], reason, key },
        })
      }
    >
      <TextField
        label={t("person.give.credits")}
        hint={t("person.give.hint", { most: creditsText(most) })}
        error={credits !== "" && !isAmount ? t("person.give.wrong", { most: number(most) }) : undefined}
        inputMode="numeric"
        autoComplete="off"
        required
        value={credits}
        onChange={(event) => setCredits(event.target.value.trim())}
      />
      <Select
        label={t("person.give.days")}
        value={days}
        onChange={(event) => setDays(event.target.value)}
        options={adjustments.days.map((count) => ({ value: String(count), label: t("person.give.daysCount", { count }) }))}
      />
    </ActDialog>
  );
}

function ActForm({ act, onChecked, ...dialog }: DialogProps & { act: Act; onChecked: (check: PaymentCheck) => void }) {
  const { t } = useTranslation("admin");
  const { page, ...closing } = dialog;
  const { onClose, onDone } = closing;
  const { id: userId, email } = page.person;
  if (act === "give") return <GiveDialog {...dialog} />;
  if (act === "giveBack") return <GiveBackDialog page={page} onClose={onClose} onDone={onDone} />;
  const [first, ...others] = page.money?.transfers ?? [];
  // Closing the dialog reads the page again too: a refused recording means that the page is out of date.
  if (act === "transfer") return first && <TransferDialog invoices={[first, ...others]} onClose={onDone} onDone={onDone} />;
  if (act === "offer") return <OfferDialog email={email} onClose={onClose} onDone={onDone} />;
  if (act === "check")
    return (
      <ActDialog
        title={t("person.check.title")}
        action={t("person.check.title")}
        {...closing}
        act={async (reason) =>
          onChecked(await api("POST /api/admin/people/:userId/check-payments", { params: { userId }, body: { reason } }))
        }
      >
        <p>{t("person.check.text")}</p>
      </ActDialog>
    );
  return (
    <ActDialog
      title={t(`person.${act}.title`)}
      action={t(`person.${act}.title`)}
      danger={dangerous.includes(act)}
      {...closing}
      wordsOf={(error) =>
        act === "export" && error instanceof ApiProblem && error.code === "conflict" ? t("person.export.blocked") : undefined
      }
      act={(reason) => calls[act](userId, reason)}
    >
      <p>{t(`person.${act}.text`, { email, hours: exportFileMs / hourMs, most: exportsADay })}</p>
    </ActDialog>
  );
}

/** The most useful act comes first: a payment check grants the credits that are owed, while credits given by hand are a present. */
function actsFor({ person, sessions, subscription, money }: PersonPage): Act[] {
  const { status, cancel_at_period_end: isEnding } = subscription;
  const hasPlan = status === "active" || status === "past_due" || status === "suspended";
  const plan: Act[] = hasPlan ? [isEnding ? "resume" : "cancel"] : person.deleteAt === null ? ["offer"] : [];
  const awaited: Act[] = money && money.transfers.length > 0 ? ["transfer"] : [];
  const payments: Act[] = money?.customerId ? [...awaited, "check"] : awaited;
  const out: Act[] = sessions.length > 0 ? ["signOut"] : [];
  // A banned person, or one whose account is being deleted, could not download an export.
  const data: Act[] = person.bannedAt === null && person.deleteAt === null ? ["export"] : [];
  const back: Act[] = person.bannedAt === null ? ["giveBack"] : [];
  return [...payments, "give", ...plan, ...data, ...out, ...back, person.bannedAt === null ? "ban" : "unban"];
}

/** They are needed rarely, and stand in a menu. */
const rareActs: readonly Act[] = ["export", "signOut", "ban"];

function RareActs({ acts, onChoose }: { acts: readonly Act[]; onChoose: (act: Act) => void }) {
  const { t } = useTranslation("admin");
  if (acts.length === 0) return null;
  const label = (
    <>
      {t("person.more")}
      <ChevronDown size={16} aria-hidden="true" />
    </>
  );
  return (
    <DropDown label={label}>
      {(close) => (
        <div className={styles.rareActs}>
          {acts.map((act) => (
            <button
              key={act}
              type="button"
              onClick={() => {
                close();
                onChoose(act);
              }}
            >
              {t(`person.${act}.title`)}
            </button>
          ))}
        </div>
      )}
    </DropDown>
  );
}

/** What an admin can do for the person. Each asks for a reason first. */
export function PersonActs({ page, onDone }: { page: PersonPage; onDone: () => void }) {
  const { t } = useTranslation("admin");
  const [act, setAct] = useState<Act>();
  const [check, setCheck] = useState<PaymentCheck>();
  const [done, setDone] = useState<Act>();
  const acts = actsFor(page);
  const isRare = (each: Act) => rareActs.includes(each);
  return (
    <>
      <div className={styles.acts}>
        {acts
          .filter((each) => !isRare(each))
          .map((each, index) => (
            <Button key={each} size="small" variant={index === 0 ? "primary" : "secondary"} onClick={() => setAct(each)}>
              {t(`person.${each}.title`)}
            </Button>
          ))}
        <RareActs acts={acts.filter(isRare)} onChoose={setAct} />
      </div>
      <Suspense>{check && <CheckResult check={check} />}</Suspense>
      {(done === "export" || done === "offer" || done === "giveBack") && (
        <Alert tone="good">{t(`person.${done}.done`, { email: page.person.email })}</Alert>
      )}
      {act && (
        <ActForm
          act={act}
          page={page}
          onClose={() => setAct(undefined)}
          onDone={() => {
            setDone(act);
            setAct(undefined);
            onDone();
          }}
          onChecked={setCheck}
          look={onDone}
        />
      )}
    </>
  );
}
