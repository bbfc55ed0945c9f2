import { updateCustomer } from "#server/features/billing/customers.ts";
import type { Processor } from "../run-job.ts";

export const updateCustomerJob: Processor<"update-customer"> = (deps, { userId }) => updateCustomer(deps, userId);
