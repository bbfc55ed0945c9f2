drop table model_prices;
