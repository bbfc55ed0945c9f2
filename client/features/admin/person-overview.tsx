import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "wouter";
import { Alert } from "#client/components/alert.tsx";
import { Button } from "#client/components/button.tsx";
import { TextField } from "#client/components/field.tsx";
import { WalletMosaic } from "#client/components/wallet-mosaic.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { PersonPage } from "#contract/admin/people.ts";
import type { Wallet } from "#contract/credits/wallet.ts";
import { ActDialog } from "./act-dialog.tsx";
import { Copied } from "./copied.tsx";
import { AtStripe } from "./dashboard.tsx";
import { Facts } from "./facts.tsx";
import { languageName } from "./inbox-names.ts";
import styles from "./person.module.css";
import { Block } from "./person-block.tsx";
import { Disputes } from "./person-disputes.tsx";
import { Invoices } from "./person-invoices.tsx";
import { sectionPath } from "./sections.ts";
import { statusText } from "./status-text.ts";

function Account({ page: { person, language, waysIn, money } }: { page: PersonPage }) {
  const { t } = useTranslation("admin");
  const { number } = useFormat();
  const { dateTime } = useUtc();
  const copied = (what: string, value: string | null | undefined) => ({
    label: what,
    value: value && <Copied what={what} value={value} />,
  });
  const atStripe = (what: string, kind: "customers" | "subscriptions", id: string | null | undefined) => ({
    label: what,
    value: id && (
      <>
        <Copied what={what} value={id} /> <AtStripe url={money?.dashboardUrl ? `${money.dashboardUrl}${kind}/${id}` : null} />
      </>
    ),
  });
  const yes = (has: boolean) => t(has ? "person.yes" : "person.no");
  return (
    <Block title={t("person.account")}>
      <Facts
        facts={[
          copied(t("people.email"), person.email),
          copied(t("people.id"), person.id),
          { label: t("people.joined"), value: dateTime(person.createdAt) },
          { label: t("people.lastSignIn"), value: person.lastSignInAt && dateTime(person.lastSignInAt) },
          { label: t("person.language"), value: languageName(language) },
          { label: t("person.password"), value: yes(waysIn.password) },
          { label: "Google", value: waysIn.google },
          { label: t("person.passkeys"), value: number(waysIn.passkeys) },
          { label: t("person.totp"), value: yes(waysIn.totp) },
          { label: t("person.recoveryCodes"), value: waysIn.totp ? number(waysIn.recoveryCodes) : null },
          { label: t("people.banned"), value: person.bannedAt && dateTime(person.bannedAt) },
          { label: t("people.deleting"), value: person.deleteAt && dateTime(person.deleteAt) },
          copied(t("person.billingAccount"), money?.billingAccountId),
          atStripe(t("person.customer"), "customers", money?.customerId),
          atStripe(t("person.subscription"), "subscriptions", money?.subscriptionId),
          {
            label: t("work.events"),
            value: money?.customerId && (
              <Link href={`${sectionPath("work")}/events?${new URLSearchParams({ customer: money.customerId })}`}>
                {t("person.events")}
              </Link>
            ),
          },
        ]}
      />
    </Block>
  );
}

function Plan({ page: { subscription } }: { page: PersonPage }) {
  const { t } = useTranslation(["admin", "billing"]);
  const { money, planName } = useFormat();
  const { dateTime } = useUtc();
  const { status, unpaid, billing_interval: interval } = subscription;
  return (
    <Block title={t("admin:people.plan")}>
      <Facts
        facts={[
          { label: t("admin:people.plan"), value: planName(subscription.subscription_tier) },
          { label: t("admin:people.state"), value: t(`billing:subscription.${statusText(status)}`) },
          {
            label: t("admin:person.interval"),
            value: interval && t(`billing:subscription.${interval === "year" ? "billedYearly" : "billedMonthly"}`),
          },
          { label: t("admin:person.until"), value: subscription.subscription_end && dateTime(subscription.subscription_end) },
          { label: t("admin:person.ends"), value: subscription.cancel_at_period_end ? t("admin:person.yes") : null },
          { label: t("admin:person.nextCredits"), value: subscription.next_credits_at && dateTime(subscription.next_credits_at) },
          { label: t("admin:person.unpaid"), value: unpaid && `${money(unpaid.amountCents)} · ${unpaid.invoiceId}` },
        ]}
      />
    </Block>
  );
}

type Grant = Wallet["grants"][number];

interface TakeDialogProps {
  userId: string;
  grant: Grant;
  onClose: () => void;
  onDone: () => void;
  look: () => void;
}

function TakeDialog({ userId, grant, ...closing }: TakeDialogProps) {
  const { t } = useTranslation("admin");
  const free = grant.remaining - grant.held;
  const [credits, setCredits] = useState(String(free));
  const [key] = useState(() => crypto.randomUUID());
  const amount = Number(credits);
  const isAmount = Number.isInteger(amount) && amount > 0 && amount <= free;
  return (
    <ActDialog
      title={t("person.take.title")}
      action={t("person.take.title")}
      danger
      ready={isAmount}
      {...closing}
      act={(reason) =>
        api("POST /api/admin/people/:userId/credits/take", {
          params: { userId },
          body: { grantId: grant.id, credits: amount, reason, key },
        })
      }
    >
      <TextField
        label={t("person.give.credits")}
        hint={t("person.take.hint")}
        error={isAmount ? undefined : t("person.give.wrong", { most: free })}
        inputMode="numeric"
        autoComplete="off"
        required
        value={credits}
        onChange={(event) => setCredits(event.target.value.trim())}
      />
    </ActDialog>
  );
}

function WalletBlock({ page, onDone }: { page: PersonPage; onDone: () => void }) {
  const { t } = useTranslation(["admin", "billing"]);
  const { number, credits, date } = useFormat();
  const [taking, setTaking] = useState<Grant>();
  const { wallet, subscription, money, person } = page;
  const adjusted = wallet.grants.filter(({ kind, remaining, held }) => kind === "adjustment" && remaining > held);
  return (
    <Block title={t("admin:person.wallet")}>
      <p>
        <strong className={styles.figure}>{number(wallet.available)}</strong> {t("billing:wallet.available")}
      </p>
      {wallet.frozen && <Alert tone="danger">{t("admin:person.frozen")}</Alert>}
      {wallet.balance < 0 && <Alert tone="warning">{t("admin:person.debt", { credits: credits(-wallet.balance) })}</Alert>}
      {wallet.grants.length > 0 && (
        <WalletMosaic
          grants={wallet.grants}
          now={new Date(wallet.serverTime)}
          planEndsAt={subscription.cancel_at_period_end ? subscription.subscription_end : null}
          hasPlan={subscription.subscribed && subscription.subscription_tier !== "none"}
        />
      )}
      {money && adjusted.length > 0 && (
        <ul className={styles.rows}>
          {adjusted.map((grant) => (
            <li key={grant.id} className={styles.row}>
              <span>{t("admin:person.adjusted", { credits: credits(grant.remaining - grant.held), date: date(grant.createdAt) })}</span>
              <Button size="small" onClick={() => setTaking(grant)}>
                {t("admin:person.take.title")}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {taking && (
        <TakeDialog
          userId={person.id}
          grant={wallet.grants.find(({ id }) => id === taking.id) ?? taking}
          onClose={() => setTaking(undefined)}
          onDone={() => {
            setTaking(undefined);
            onDone();
          }}
          look={onDone}
        />
      )}
    </Block>
  );
}

function Sessions({ page: { sessions } }: { page: PersonPage }) {
  const { t } = useTranslation(["admin", "account"]);
  const { dateTime } = useUtc();
  return (
    <Block title={t("admin:person.sessions")}>
      {sessions.length === 0 && <p className={styles.soft}>{t("admin:person.noSessions")}</p>}
      <ul className={styles.rows}>
        {sessions.map(({ id, browser, system, timeZone, lastUsedAt }) => (
          <li key={id} className={styles.row}>
            <span>
              {browser !== null && system !== null
                ? t("account:sessions.device", { browser, system })
                : t("account:sessions.unknownDevice")}
            </span>
            <span className={styles.soft}>{[timeZone, dateTime(lastUsedAt)].filter(Boolean).join(" · ")}</span>
          </li>
        ))}
      </ul>
    </Block>
  );
}

export function PersonOverview({ page, onDone }: { page: PersonPage; onDone: () => void }) {
  return (
    <div className={styles.blocks}>
      <div className={styles.stack}>
        <WalletBlock page={page} onDone={onDone} />
        {page.money && <Disputes disputes={page.money.disputes} />}
        {page.money && <Invoices page={{ ...page, money: page.money }} look={onDone} />}
        <Sessions page={page} />
      </div>
      <div className={styles.stack}>
        <Plan page={page} />
        <Account page={page} />
      </div>
    </div>
  );
}
