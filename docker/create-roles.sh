#!/bin/sh
# The postgres image runs this once, on an empty volume. It creates the owner, who migrates, and the application's restricted role.
set -eu
psql --set=ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
  --set=owner_password="$OWNER_PASSWORD" --set=application_password="$APPLICATION_PASSWORD" <<'SQL'
create role tessera_owner login nosuperuser nocreatedb nocreaterole password :'owner_password';
create role tessera_app login nosuperuser nocreatedb nocreaterole password :'application_password';
create database tessera owner tessera_owner;
revoke all on database tessera from public;
grant connect on database tessera to tessera_app;
SQL
