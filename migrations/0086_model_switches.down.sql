drop table model_switches;
