drop function answer_end, answer_start;
drop index generations_running_user;
