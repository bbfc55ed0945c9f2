/** BullMQ's own tables live in this schema when it runs on PostgreSQL; the migrations make it. */
export const queueSchema = "bullmq";
