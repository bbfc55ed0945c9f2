import { useTranslation } from "react-i18next";
import { Badge } from "#client/components/badge.tsx";
import { Button } from "#client/components/button.tsx";
import { api } from "#client/lib/api.ts";
import { useFormat } from "#client/lib/use-format.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { WaitingTransfer } from "#contract/admin-work.ts";
import { Dashboard } from "./dashboard.tsx";
import type { BlockProps } from "./needs-block.tsx";
import { Block, OpenPerson, Person, Row } from "./needs-block.tsx";
import { Since } from "./since.tsx";

export function Money({ needs: { failedPayments, disputes, holds }, ask }: BlockProps) {
  const { t } = useTranslation("admin");
  const { money, credits } = useFormat();
  const { dateTime } = useUtc();
  const release = (
    <Button
      size="small"
      onClick={() => ask({ title: t("needs.release"), act: (reason) => api("POST /api/admin/holds/release", { body: { reason } }) })}
    >
      {t("needs.release")}
    </Button>
  );
  return (
    <>
      <Block name="disputes" count={disputes.rows.length} isMore={disputes.isMore}>
        {disputes.rows.map(({ id, paidCents, since, dueAt, dashboardUrl, ...person }) => (
          <Row
            key={id}
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
      <Block name="failedPayments" count={failedPayments.rows.length} isMore={failedPayments.isMore}>
        {failedPayments.rows.map(({ id, unpaidCents, issuedAt, userId, email }) => (
          <Row
            key={id}
            what={<Person userId={userId} email={email} />}
            detail={
              <>
                {money(unpaidCents)} · {id} · <Since at={issuedAt} />
              </>
            }
          >
            <OpenPerson userId={userId} />
          </Row>
        ))}
      </Block>
      <Block name="holds" count={holds.rows.length} isMore={holds.isMore}>
        {holds.rows.map(({ id, credits: held, deadline, userId, email }, index) => (
          <Row
            key={id}
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
