-- The release before knows the guarantee alone. What was withdrawn from stays in the books of Stripe's refunds.
delete from money_backs where kind = 'withdrawal';
drop index money_backs_guarantee, money_backs_charge, money_backs_account;
alter table money_backs drop column kind, add constraint money_backs_billing_account_id_key unique (billing_account_id);
