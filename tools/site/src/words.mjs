/**
 * Words that readers search for, keyed by page. The page's text does not contain these words, or contains them no more
 * often than other pages.
 */
export const WORDS = {
  "how-it-works": "duplicate IDs, duplicates, uniqueness, clock went backwards, clock skew, NTP, drift, leap second",
  promises:
    "collision, collisions, probability, birthday paradox, monotonic, ordering, sortable, guarantee, thread safe, thread safety, is it secure, secure, security, guessable, predictable",
  "guide/workers":
    "worker ID, machine ID, node ID, instance ID, datacenter ID, gunicorn, uvicorn, Celery, Kubernetes, pod, replica, Docker, PM2, cluster, multiple processes",
  "operate-leases":
    "lease_unavailable, lease unavailable, permission denied, Kubernetes, k8s, Deployment, systemd, Prometheus, alert, outage, SRE",
  "lease-stores": "aurora, Amazon Aurora, RDS, Neon, Supabase, Azure, Cloud SQL, TiDB, CockroachDB",
  languages: "go, golang, java, kotlin, c#, .NET, ruby, php, swift, elixir, c++",
  "guide/testing": "pytest, jest, vitest, fixed clock, fake time, freezegun",
  "integrations/validation": "branded, brand, zod, valibot, arktype",
  "integrations/others": "express, hono, kysely, celery, orjson",
  "public-ids":
    "prefix, prefixed IDs, stripe style IDs, stripe, hide integer, hide integer keys, obfuscate, hashids, sqids, typeid, encrypt, enumeration",
  "guide/which-id": "which ID, choose, decide, compare formats",
  bench: "benchmark, speed, performance, fast, throughput",
  "guide/types-in-json": "type, type tag, metabyte, kind, polymorphic, discriminator",
  "guide/uuid-v7": "uuid7, uuidv7, uuid v7, uuid v4, comparison, alternative, versus, decide",
  "guide/64-bits": "bigint, int64, JavaScript number, precision, rounding, MAX_SAFE_INTEGER, 2^53",
  "guide/discord-and-x":
    "Discord, Twitter, X, tweet, snowflake, snowflake epoch, message ID, timestamp of a Discord ID",
  "guide/restarts": "snapshot, restart, restore, resume, fork",
  "guide/migrate": "ULID, Nano ID, nanoid, KSUID, cuid, xid, flake, convert",
  "guide/store": "column type, primary key, index, database",
  errors: "lease expired, error codes, exception",
  "integrations/graphql": "GraphQL, Relay, node, global ID, Strawberry, graphql-js, Apollo",
  "integrations/postgresql": "postgres, psql, pg, psycopg, asyncpg",
  "integrations/sql": "time of an ID in PostgreSQL, creation time, extract timestamp, date range, partition by time",
  "integrations/django": "Django, DRF, Django REST framework, model field, primary key",
  "integrations/sqlalchemy": "SQLAlchemy, SQLModel, Alembic, mapped_column",
  "integrations/prisma": "Prisma, schema.prisma",
};
