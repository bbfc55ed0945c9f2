drop index money_backs_unpaid;
