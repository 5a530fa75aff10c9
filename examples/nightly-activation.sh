#!/bin/sh
# Builds each row of a file, activates it and saves its files: for cron, or a job of a CI server. Needs AUDIENCE_BASE_URL and
# AUDIENCE_TOKEN in the environment, and `audience-activation` in the PATH (npm install --global audience-activation, or npx).
#
#   nightly-activation.sh regions.csv results
#
# Run it again on the same day, also after a kill: it continues, and creates nothing twice. The next day has another journal,
# and builds everything again. After midnight, continue a night by its DAY, such as DAY=2026-11-24.
# `audience-activation help run` has the format of the rows, and what each exit code means.
day=${DAY:-$(date -u +%F)}
exec audience-activation run "${1:-regions.csv}" --journal "${1:-regions.csv}.$day.journal" --download "${2:-results}/$day"
