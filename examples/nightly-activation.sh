#!/bin/sh
# Builds an audience, activates it and saves the results: for cron, or a job of a CI server. Needs AUDIENCE_BASE_URL and
# AUDIENCE_TOKEN in the environment, and `audience-activation` in the PATH (npm install --global audience-activation, or
# npx).
set -eu

folder=${1:-results}
day=$(date -u +%Y-%m-%d)
month_ago=$(date -u -d "$day -30 days" +%Y-%m-%d)

# The same keys for every run of a day: a run that is repeated, was killed, or overlaps another one builds nothing twice.
# After a job has failed, or with another definition, use new keys: a new attempt is a new build.
audience=$(
  audience-activation audiences create --name "Visitors until $day" --dataset "WebDomain:$month_ago:$day" \
    --idempotency-key "nightly-audience-$day" --fields id
)

status=0
audience-activation wait "audience:$audience" --timeout 2h >&2 || status=$?
case $status in
  0) ;;
  4) echo "The audience cannot be built as defined: see the console." >&2; exit $status ;;
  6) echo "The audience takes longer than usual. Run this again to continue." >&2; exit $status ;;
  *) exit $status ;;
esac

activation=$(
  audience-activation activations create --audience-id "$audience" --description "Visitors until $day" \
    --idempotency-key "nightly-activation-$day" --wait --fields id
)
audience-activation activations download "$activation" "$folder" --fields path
