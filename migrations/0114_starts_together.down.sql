drop function answers_start, ledger_hold_many, send_retry_after_ms, hold_unasked, attachments_are_there, sends_refuse, spending_count, attachments_place;
