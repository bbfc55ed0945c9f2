import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Needs, WaitingTransfer } from "#contract/admin/needs.ts";
import { AtStripe, Dashboard } from "./dashboard.tsx";
import type { BlockProps } from "./needs-block.tsx";
import { Block, OpenPerson, Person, Row } from "./needs-block.tsx";
import { Since } from "./since.tsx";

/** Mails the person a link to the page where the invoice can be paid. */
function PayLink({ payment, ask }: Pick<BlockProps, "ask"> & { payment: Needs["failedPayments"]["rows"][number] }) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const { id: invoiceId, canMail, unpaidCents, userId, email } = payment;
  if (!canMail || userId === null || email === null) return null;
  function send(of: string, to: string): void {
    // A try that is repeated after a broken connection sends nothing twice.
    const key = crypto.randomUUID();
    const params = { userId: of, invoiceId };
    ask({
      title: t("needs.mailLink"),
      text: t("needs.mailLinkText", { email: to, amount: money(unpaidCents) }),
      act: async (reason) => {
        await api("POST /api/admin/people/:userId/invoices/:invoiceId/pay-link", { params, body: { reason, key } });
        return <Alert tone="good">{t("needs.mailLinkDone", { email: to })}</Alert>;
      },
      wordsOf: (error) => (error instanceof ApiProblem && error.code === "conflict" ? t("needs.mailLinkOver") : undefined),
    });
  }
  return (
    <Button size="small" onClick={() => send(userId, email)}>
      {t("needs.mailLink")}
    </Button>
  );
}

function FailedPayments({ payments, ask }: Pick<BlockProps, "ask"> & { payments: Needs["failedPayments"] }) {
  const { money } = useFormat();
  return (
    <Block name="failedPayments" count={payments.rows.length} isMore={payments.isMore}>
      {payments.rows.map((payment) => (
        <Row
          key={payment.id}
          need={{ kind: "failedPayments", ...payment }}
          what={<Person {...payment} />}
          detail={
            <>
              {money(payment.unpaidCents)} · {payment.id} · <Since at={payment.issuedAt} />
            </>
          }
        >
          <AtStripe url={payment.dashboardUrl} />
          <PayLink payment={payment} ask={ask} />
          <OpenPerson userId={payment.userId} />
        </Row>
      ))}
    </Block>
  );
}

export function Money({ needs: { failedPayments, disputes, holds }, ask }: BlockProps) {
  const { t } = useTranslation("admin");
  const { money, credits, number } = useFormat();
  const { dateTime } = useUtc();
  const releaseAll = async (reason: string) => {
    const { count } = await api("POST /api/admin/holds/release", { body: { reason } });
    if (count === 0) return <Alert tone="warning">{t("needs.releasedNone")}</Alert>;
    return <Alert tone="good">{t("needs.released", { holds: number(count) })}</Alert>;
  };
  const release = (
    <Button size="small" onClick={() => ask({ title: t("needs.release"), act: releaseAll })}>
      {t("needs.release")}
    </Button>
  );
  return (
    <>
      <Block name="disputes" count={disputes.rows.length} isMore={disputes.isMore}>
        {disputes.rows.map(({ id, paidCents, since, dueAt, dashboardUrl, entry, dueBy, ...person }) => (
          <Row
            key={id}
            need={{ kind: "disputes", entry, dueBy }}
            what={
              <>
                <Person {...person} /> {dueAt !== null && <Badge tone="warning">{t("needs.evidence", { time: dateTime(dueAt) })}</Badge>}
              </>
            }
            detail={
              <>
                {money(paidCents)} · {id} · <Since at={since} />
              </>
            }
          >
            <Dashboard url={dashboardUrl} />
            <OpenPerson userId={person.userId} />
          </Row>
        ))}
      </Block>
      <FailedPayments payments={failedPayments} ask={ask} />
      <Block name="holds" count={holds.rows.length} isMore={holds.isMore}>
        {holds.rows.map(({ id, credits: held, deadline, userId, email, entry }, index) => (
          <Row
            key={id}
            need={{ kind: "holds", entry, dueBy: null }}
            what={<Person userId={userId} email={email} />}
            detail={
              <>
                {credits(held)} · <Since at={deadline} />
              </>
            }
          >
            {index === 0 && release}
          </Row>
        ))}
      </Block>
    </>
  );
}

/** Money that a team member has to move at the bank. */
export function Transfers({ needs: { transfers }, move }: Pick<BlockProps, "needs"> & { move: (transfer: WaitingTransfer) => void }) {
  const { t } = useTranslation("admin");
  const { money } = useFormat();
  const { dateTime } = useUtc();
  return (
    <Block name="transfers" count={transfers.rows.length} isMore={transfers.isMore}>
      {transfers.rows.map((transfer) => (
        <Row
          key={transfer.id}
          need={{ kind: "transfers", ...transfer }}
          what={
            <>
              <Person {...transfer} />{" "}
              {transfer.dueAt === null
                ? t("needs.transfer.claim", { amount: money(transfer.amountCents) })
                : t("needs.transfer.return", { amount: money(transfer.amountCents), time: dateTime(transfer.dueAt) })}
            </>
          }
          detail={
            <>
              {transfer.reference} · {transfer.invoiceId} · <Since at={transfer.since} />
            </>
          }
        >
          <Button size="small" onClick={() => move(transfer)}>
            {t(`needs.transfer.${transfer.side}Act`)}
          </Button>
        </Row>
      ))}
    </Block>
  );
}
