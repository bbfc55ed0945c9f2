/** The schema of BullMQ's tables when it runs on PostgreSQL. The migrations create it. */
export const queueSchema = "bullmq";
