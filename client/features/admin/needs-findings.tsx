/** What the checks have found, each with the button that mends it. */
import { useTranslation } from "react-i18next";
import { Alert } from "#client/components/alert.tsx";
import { Button, LinkButton } from "#client/components/button.tsx";
import { ApiProblem, api } from "#client/lib/api.ts";
import { useUtc } from "#client/lib/use-utc.ts";
import type { Needs } from "#contract/admin/needs.ts";
import type { FindingKind } from "#domain/findings.ts";
import { CheckResult } from "./check-result.tsx";
import type { BlockProps } from "./needs-block.tsx";
import { Block, inSilence, OpenPerson, Person, Row } from "./needs-block.tsx";
import { sectionPath } from "./sections.ts";
import { Since } from "./since.tsx";

type Finding = Needs["findings"]["rows"][number];

/** What is wrong, and what to do about it. A kind that this page does not know stays a name. */
export function useFindingText() {
  const { t, i18n } = useTranslation("words");
  const isKnown = (kind: string): kind is FindingKind => i18n.exists(`findings.${kind}.what`, { ns: "words" });
  return {
    whatOf: (kind: string) => (isKnown(kind) ? t(`findings.${kind}.what`) : kind),
    toDoOf: (kind: string) => (isKnown(kind) ? t(`findings.${kind}.toDo`) : ""),
  };
}

/** The page of the panel that shows the finding's model or event; undefined for other kinds. */
function addressOf({ kind, subject }: Finding): string | undefined {
  if (kind === "model_gone" || kind === "model_ending") return `${sectionPath("models")}?${new URLSearchParams({ model: subject })}`;
  if (kind === "lost_event" || kind === "stuck_event") return `${sectionPath("work")}/events?${new URLSearchParams({ event: subject })}`;
  return undefined;
}

/** Compares the person's payments with Stripe's or, if nobody knows whose it is, everybody's. */
function CheckButton({ finding: { kind, userId }, needs, ask }: BlockProps & { finding: Finding }) {
  const { t } = useTranslation("admin");
  // These findings are about models, not about payments.
  if (kind.startsWith("model")) return null;
  if (userId === null)
    return (
      <Button
        size="small"
        disabled={needs.checkingSince !== null}
        onClick={() =>
          ask({
            title: t("needs.checkAll"),
            text: t("needs.checkAllText"),
            act: inSilence((reason) => api("POST /api/admin/findings/check-all", { body: { reason } })),
          })
        }
      >
        {t("needs.checkAll")}
      </Button>
    );
  const check = async (reason: string) => (
    <CheckResult check={await api("POST /api/admin/people/:userId/check-payments", { params: { userId }, body: { reason } })} />
  );
  return (
    <Button size="small" onClick={() => ask({ title: t("person.check.title"), text: t("person.check.text"), act: check })}>
      {t("person.check.title")}
    </Button>
  );
}

function CloseButton({ id, ask }: Pick<BlockProps, "ask"> & { id: string }) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  // If a colleague has closed it meanwhile, the admin reads who did and when.
  function wordsOf(error: unknown): string | undefined {
    if (!(error instanceof ApiProblem) || error.code !== "finding_closed" || error.since === undefined) return undefined;
    const time = dateTime(error.since);
    return error.by === undefined ? t("needs.closedAlready", { time }) : t("needs.closedBy", { by: error.by, time });
  }
  const act = inSilence((reason) => api("POST /api/admin/findings/close", { body: { findingId: id, reason } }));
  return (
    <Button size="small" variant="quiet" onClick={() => ask({ title: t("needs.close"), text: t("needs.closeText"), act, wordsOf })}>
      {t("needs.close")}
    </Button>
  );
}

export function Findings({ needs, ask }: BlockProps) {
  const { t } = useTranslation("admin");
  const { dateTime } = useUtc();
  const { whatOf, toDoOf } = useFindingText();
  const { findings, checkingSince } = needs;
  return (
    <>
      {checkingSince !== null && <Alert>{t("needs.checking", { time: dateTime(checkingSince) })}</Alert>}
      <Block name="findings" count={findings.rows.length} isMore={findings.isMore}>
        {findings.rows.map((finding) => {
          const { id, kind, subject, firstSeenAt, userId, email } = finding;
          const address = addressOf(finding);
          return (
            <Row
              key={id}
              need={{ kind: "findings", entry: finding.entry, dueBy: finding.dueBy }}
              what={
                <>
                  {whatOf(kind)}: {subject} <Person userId={userId} email={email} />
                </>
              }
              detail={
                <>
                  <Since at={firstSeenAt} /> · {toDoOf(kind)}
                </>
              }
            >
              <CheckButton finding={finding} needs={needs} ask={ask} />
              {address !== undefined && (
                <LinkButton size="small" href={address}>
                  {t("needs.look")}
                </LinkButton>
              )}
              <OpenPerson userId={userId} />
              <CloseButton id={id} ask={ask} />
            </Row>
          );
        })}
      </Block>
    </>
  );
}
