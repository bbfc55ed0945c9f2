drop trigger generations_erase_log on generations;
drop function generation_erase_log();
drop trigger conversations_erase_answers on conversations;
drop function conversation_erase_answers();
drop index generations_conversation;
