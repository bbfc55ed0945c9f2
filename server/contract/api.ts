/** Every call by name, for the client's typed `api`. */
import type { accountRoutes } from "./account.ts";
import type { adminRoutes } from "./admin.ts";
import type { adminInboxRoutes } from "./admin-inbox.ts";
import type { adminInvoiceRoutes } from "./admin-invoices.ts";
import type { adminMailRoutes } from "./admin-mails.ts";
import type { adminModelRoutes } from "./admin-models.ts";
import type { adminNeedsRoutes } from "./admin-needs.ts";
import type { adminPeopleRoutes } from "./admin-people.ts";
import type { adminSettingsRoutes } from "./admin-settings.ts";
import type { adminViewRoutes } from "./admin-views.ts";
import type { adminWorkRoutes } from "./admin-work.ts";
import type { authRoutes } from "./auth.ts";
import type { billingRoutes } from "./billing.ts";
import type { campaignRoutes } from "./campaigns.ts";
import type { catalogueRoutes } from "./catalogue.ts";
import type { contactRoutes } from "./contact.ts";
import type { disownRoutes } from "./disown.ts";
import type { doctorRoutes } from "./doctor.ts";
import type { emailChangeRoutes } from "./email-change.ts";
import type { factorResetRoutes } from "./factor-reset.ts";
import type { factorRoutes } from "./factors.ts";
import type { figureRoutes } from "./figures.ts";
import type { fileRoutes } from "./files.ts";
import type { generationRoutes } from "./generations.ts";
import type { googleRoutes } from "./google.ts";
import type { invoiceRoutes } from "./invoices.ts";
import type { ledgerRoutes } from "./ledger.ts";
import type { limitRoutes } from "./limits.ts";
import type { mediaRoutes } from "./media-routes.ts";
import type { moneyBackRoutes } from "./money-back.ts";
import type { notificationRoutes } from "./notifications.ts";
import type { orderRoutes } from "./orders.ts";
import type { ownDataRoutes } from "./own-data.ts";
import type { passkeyRoutes } from "./passkeys.ts";
import type { planChangeRoutes } from "./plan-change.ts";
import type { profileRoutes } from "./profile.ts";
import type { CallsOf } from "./route.ts";
import type { securityRoutes } from "./security.ts";
import type { stepUpRoutes } from "./step-up.ts";
import type { supportAccessRoutes } from "./support-access.ts";
import type { transferRoutes } from "./transfers.ts";
import type { usageRoutes } from "./usage.ts";
import type { withdrawalRoutes } from "./withdrawals.ts";

export type Calls = CallsOf<
  typeof accountRoutes &
    typeof adminRoutes &
    typeof adminInboxRoutes &
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
    typeof withdrawalRoutes
>;
