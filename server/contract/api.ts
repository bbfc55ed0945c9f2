/** Every call by name, for the client's typed `api`. */
import type { accountRoutes } from "./account/account.ts";
import type { activityRoutes } from "./account/activity.ts";
import type { profileRoutes } from "./account/profile.ts";
import type { stepUpRoutes } from "./account/step-up.ts";
import type { adminCampaignRoutes } from "./admin/campaigns.ts";
import type { adminInboxRoutes } from "./admin/inbox.ts";
import type { adminInvoiceRoutes } from "./admin/invoices.ts";
import type { adminMailRoutes } from "./admin/mails.ts";
import type { adminModelRoutes } from "./admin/models.ts";
import type { adminNeedsRoutes } from "./admin/needs.ts";
import type { adminPeopleRoutes } from "./admin/people.ts";
import type { adminRoutes } from "./admin/team.ts";
import type { adminViewRoutes } from "./admin/views.ts";
import type { adminWorkRoutes } from "./admin/work.ts";
import type { disownRoutes } from "./auth/disown.ts";
import type { emailChangeRoutes } from "./auth/email-change.ts";
import type { factorResetRoutes } from "./auth/factor-reset.ts";
import type { factorRoutes } from "./auth/factors.ts";
import type { googleRoutes } from "./auth/google.ts";
import type { passkeyRoutes } from "./auth/passkeys.ts";
import type { securityRoutes } from "./auth/security.ts";
import type { authRoutes } from "./auth/sign-in.ts";
import type { campaignRoutes } from "./billing/campaigns.ts";
import type { doctorRoutes } from "./billing/doctor.ts";
import type { invoiceRoutes } from "./billing/invoices.ts";
import type { moneyBackRoutes } from "./billing/money-back.ts";
import type { orderRoutes } from "./billing/orders.ts";
import type { planChangeRoutes } from "./billing/plan-change.ts";
import type { billingRoutes } from "./billing/subscription.ts";
import type { transferRoutes } from "./billing/transfers.ts";
import type { withdrawalRoutes } from "./billing/withdrawals.ts";
import type { catalogueRoutes } from "./catalogue.ts";
import type { contactRoutes } from "./contact.ts";
import type { conversationRoutes } from "./conversations.ts";
import type { ledgerRoutes } from "./credits/ledger.ts";
import type { limitRoutes } from "./credits/limits.ts";
import type { usageRoutes } from "./credits/usage.ts";
import type { walletRoutes } from "./credits/wallet.ts";
import type { deletionRoutes } from "./deletion.ts";
import type { figureRoutes } from "./figures.ts";
import type { fileRoutes } from "./files.ts";
import type { generationRoutes } from "./generations/generations.ts";
import type { mediaRoutes } from "./generations/media-routes.ts";
import type { notificationRoutes } from "./notifications.ts";
import type { ownDataRoutes } from "./own-data.ts";
import type { CallsOf } from "./route.ts";
import type { adminSettingsRoutes } from "./settings.ts";
import type { supportAccessRoutes } from "./support-access.ts";

export type Calls = CallsOf<
  typeof accountRoutes &
    typeof adminRoutes &
    typeof adminInboxRoutes &
    typeof activityRoutes &
    typeof adminCampaignRoutes &
    typeof adminModelRoutes &
    typeof adminNeedsRoutes &
    typeof adminPeopleRoutes &
    typeof adminSettingsRoutes &
    typeof adminViewRoutes &
    typeof adminInvoiceRoutes &
    typeof adminMailRoutes &
    typeof adminWorkRoutes &
    typeof authRoutes &
    typeof billingRoutes &
    typeof campaignRoutes &
    typeof catalogueRoutes &
    typeof contactRoutes &
    typeof conversationRoutes &
    typeof deletionRoutes &
    typeof fileRoutes &
    typeof figureRoutes &
    typeof emailChangeRoutes &
    typeof disownRoutes &
    typeof factorResetRoutes &
    typeof factorRoutes &
    typeof generationRoutes &
    typeof doctorRoutes &
    typeof invoiceRoutes &
    typeof limitRoutes &
    typeof mediaRoutes &
    typeof moneyBackRoutes &
    typeof ledgerRoutes &
    typeof notificationRoutes &
    typeof ownDataRoutes &
    typeof passkeyRoutes &
    typeof orderRoutes &
    typeof planChangeRoutes &
    typeof profileRoutes &
    typeof googleRoutes &
    typeof securityRoutes &
    typeof stepUpRoutes &
    typeof supportAccessRoutes &
    typeof transferRoutes &
    typeof usageRoutes &
    typeof walletRoutes &
    typeof withdrawalRoutes
>;
