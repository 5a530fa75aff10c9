#!/usr/bin/env bash
# Logs in, creates an audience, polls until its job has ended, and lists, with curl only.
#   npx audience-activation sandbox --port 4010 --speed 60
#   bash examples/testing/curl.sh http://127.0.0.1:4010
set -euo pipefail
api="${1:-http://127.0.0.1:4010}/api/v2"

# Prints the first match of a pattern's group in the JSON on standard input.
field() { sed -En "s/.*$1.*/\1/p" | head -n 1; }
# The credential exchange needs no token; requests and responses are JSON.
json=(--silent --show-error --fail-with-body -H 'Accept: application/json' -H 'Content-Type: application/json')

token=$(curl "${json[@]}" "$api/auth/login" \
  -d '{"email":"dev@example.com","password":"sandbox"}' | field '"token":"([^"]+)"')
auth=(-H "Authorization: Bearer $token")

# With the key, a retry after a lost response creates no second audience.
id=$(curl "${json[@]}" "${auth[@]}" "$api/audiences/create" -H "Idempotency-Key: curl-$$" \
  -d '{"name":"From a shell"}' | field '"data":\[\{"id":([0-9]+)')
echo "Created audience $id."

while :; do
  status=$(curl "${json[@]}" "${auth[@]}" "$api/audiences/$id" | field '"status":\{"id":([0-9]+)')
  echo "Status $status."
  case "$status" in 104 | 107 | 4??) break ;; esac
  sleep 1
done

curl "${json[@]}" "${auth[@]}" "$api/audiences/index?per_page=10"
echo
