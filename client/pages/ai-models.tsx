import type { ReactNode } from "react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useSearchParams } from "wouter";
import { Page } from "#client/components/page.tsx";
import { noteAvailableCredits, useSubscription } from "#client/features/billing/subscription-store.ts";
import { AccessGate } from "#client/features/chat/access-gate.tsx";
import chatStyles from "#client/features/chat/chat.module.css";
import { ChatScreen } from "#client/features/chat/chat-screen.tsx";
import { useChat } from "#client/features/chat/chat-store.ts";
import { conversationPath } from "#client/features/chat/conversation-path.ts";
import { ModelsPage } from "#client/features/chat/models-page.tsx";
import { noteTrial, refreshModels } from "#client/features/chat/models-store.ts";
import { newThreadKey } from "#client/features/chat/thread.ts";
import { useLiveConversations } from "#client/features/chat/use-live-conversations.ts";
import { WaitingPrompt } from "#client/features/chat/waiting-prompt.tsx";
import { nextCredits } from "#client/lib/next-credits.ts";
import { trialStateOf } from "#client/lib/trial-state.ts";
import { useFetched } from "#client/lib/use-fetched.ts";
import { useSession } from "#client/lib/use-session.ts";
import { paths } from "#client/paths.ts";
import type { SubscriptionCheck } from "#contract/billing/subscription.ts";

const loadTrial = async () => (await import("#client/features/billing/own-trial.tsx")).OwnTrial;

/** Marks the models that the trial doesn't cover while it runs. Returns what there is to say of it to those who can't ask now. */
function useTrial(check: SubscriptionCheck | null): ReactNode {
  const state = check && trialStateOf(check);
  const running = state === "running";
  useEffect(() => noteTrial(running), [running]);
  const Trial = useFetched((state !== null && !running) || check?.status === "suspended", loadTrial);
  return Trial && check && <Trial check={check} />;
}

export function AiModelsPage() {
  const { t } = useTranslation("chat");
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  const { status, user } = useSession();
  const { check, lastKnown, status: checkStatus, refresh } = useSubscription();
  const lastAvailable = useChat((state) => state.lastAvailable);
  const threadKey = search.get("conversation") ?? newThreadKey;
  useLiveConversations(threadKey);

  useEffect(() => void refreshModels(), []);
  const trial = useTrial(check);
  useEffect(() => {
    if (lastAvailable !== null) noteAvailableCredits(lastAvailable);
  }, [lastAvailable]);

  // Without a connection a subscriber can still read their conversations and write drafts, however old the last check of their subscription
  // is.
  const known = check?.subscribed ? check : checkStatus === "failed" ? lastKnown?.check : undefined;
  if (user && known?.subscribed) {
    return (
      <Page key="chat" title={t("title")} width="bare" className={chatStyles.page ?? ""}>
        <ChatScreen
          userId={user.id}
          available={known.credits}
          nextCredits={nextCredits(known)}
          maySend={check?.subscribed === true}
          threadKey={threadKey}
          givenPrompt={search.get("prompt")}
          givenModelId={search.get("model")}
          onOpen={(key, replace) => navigate(key === newThreadKey ? paths.aiModels : conversationPath(key), { replace })}
        />
      </Page>
    );
  }
  const checking = (user !== null && !check) || (checkStatus === "refreshing" && check?.reason !== null);
  const owner = status === "loading" ? undefined : (user?.id ?? null);
  const gate = checking ? (
    <AccessGate access={{ kind: "checking" }} returnPath={paths.aiModels} onRefresh={() => void refresh()} />
  ) : (
    <AccessGate
      access={user ? { kind: "locked", reason: checkStatus === "failed" ? (check?.reason ?? null) : null } : { kind: "signedOut" }}
      returnPath={search.size > 0 ? `${paths.aiModels}?${search}` : paths.aiModels}
      onRefresh={() => void refresh()}
      trial={trial}
    />
  );
  return (
    <Page key="catalogue" title={t("title")}>
      {/* Until the session has been read, boot.js's mark hides the sign-in part, so that signed-in people never see it. */}
      <ModelsPage
        gate={<div className={status === "loading" ? chatStyles.unsure : undefined}>{gate}</div>}
        waiting={!checking && <WaitingPrompt owner={owner} text={search.get("prompt")} modelId={search.get("model")} />}
      />
    </Page>
  );
}
