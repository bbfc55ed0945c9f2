drop function retention_abandoned_orders;
drop table orders;
drop function orders_refuse;
