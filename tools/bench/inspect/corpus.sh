#!/bin/sh
# Prints the corpus: IDs of 25 formats at eight moments, six of each format that was in use at that moment. The arguments are the
# programs polyflake and idt. idt implements the rules of Instagram and Mastodon, which publish no library. Needs libfaketime and the
# packages in package.json and requirements.txt.
set -e
cd "$(dirname "$0")"
polyflake=$1 idt=$2

made_at() {
    at() { day=$1; shift; TZ=UTC faketime "$day 12:34:56" "$@"; }
    at "$1" node corpus.mjs 6
    at "$1" python3 corpus.py 6
    for number in 1 2 3 4 5 6; do
        printf 'sno\t%s\n' "$(at "$1" "$polyflake" new sno --metabyte $number)"
        printf 'hotguid\t%s\n' "$(at "$1" "$polyflake" new hotguid --shard-key $((number * 1000)))"
        printf 'instagram\t%s\n' "$(at "$1" "$idt" gen snowflake --preset instagram --field shard_id=$((number * 999)))"
        printf 'mastodon\t%s\n' "$(at "$1" "$idt" gen snowflake --preset mastodon)"
    done
}

young='uuid6|uuid7|typeid|scru128|tid'
made_at 2019-05-02 | grep -vE "^($young|timeflake|tsid)	"
made_at 2021-08-15 | grep -vE "^($young)	"
for day in 2023-02-28 2024-12-11 2025-06-30 2026-03-03 2026-10-31 2026-11-21; do made_at $day; done
