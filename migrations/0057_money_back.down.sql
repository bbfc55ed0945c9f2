drop table money_backs;
