import { useTranslation } from "react-i18next";
import { dayMs } from "#domain/clock.ts";
import { undoEmailMs } from "#domain/periods.ts";
import { lookAtUndo, undoEmailChange } from "./auth-calls.ts";
import { LinkBusy, LinkFailed, useLink } from "./mailed-link-parts.tsx";
import { ActStep } from "./step.tsx";
import { unlessCode } from "./unless-code.ts";

interface UndoEmailChangeProps {
  token: string;
  /** Called with the token of a link for a new password, once the address is back. */
  onUndone: (token: string) => void;
  signedIn: boolean;
  /** Called when the person goes on without the link. */
  onInstead: () => void;
}

/** Opens the link that gives an account its earlier address back. Nothing happens before the person has asked for it here. */
export function UndoEmailChange({ token, onUndone, ...way }: UndoEmailChangeProps) {
  const { t } = useTranslation(["auth", "errors", "steps"]);
  const title = t("steps:undo.title");
  const { state, look, fail } = useLink(token, lookAtUndo);
  if (state.step === "looking") return <LinkBusy title={title} />;
  if (state.step === "failed")
    return (
      <LinkFailed code={state.code} title={title} spent={t("steps:undo.spent", { days: undoEmailMs / dayMs })} onAgain={look} {...way} />
    );
  return (
    <ActStep
      title={title}
      lead={t("steps:undo.lead", { email: state.link.email })}
      submit={{ label: t("steps:undo.submit"), busyLabel: t("steps:undo.busy") }}
      act={() => undoEmailChange(token).then(onUndone).catch(unlessCode("link_invalid", fail))}
    />
  );
}
