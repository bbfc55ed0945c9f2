drop trigger users_departed on users;
drop function users_count_departure();
drop table daily_departures, daily_people, daily_subscriptions, daily_answers, credit_expiries, daily_credits, waiting_answers, figure_marks;
