-- Processes one request of a lease in Redis or Valkey, as one atomic step (docs/leases.md).
--
-- KEYS: the set of all namespaces' names, and three keys of one namespace: its hash, the hash of
-- its records, and the sorted set of their ends.
-- ARGV: the request, the namespace's name, and the request's values.
-- The reply is a list of strings: the result, the server's time in seconds and the microseconds
-- within the second, the store's name, the namespace's record or an empty string, and the values
-- that the request found.
--
-- Records are opaque strings here. The script neither parses nor encodes them, because Redis
-- encodes numbers as JSON with 14 digits. Every condition is checked before the first write,
-- because an error does not undo the writes before it.
local names, namespace, records, ends = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local request, name = ARGV[1], ARGV[2]

-- Redis 6 reports one section per call.
local info = ''
for _, section in ipairs({'server', 'replication', 'memory'}) do
  info = info .. redis.call('INFO', section)
end
local function fact(key)
  return string.match(info, '\n' .. key .. ':([^\r\n]*)') or ''
end
local function rejected(key, expected)
  return {'rejected', key, expected, fact(key), fact('os')}
end

-- These servers are not Redis, although some of them report its properties.
for _, key in ipairs({'dragonfly_version', 'upstash_version'}) do
  if fact(key) ~= '' then return rejected(key, 'none') end
end

-- A replica may be promoted while this server still acknowledges writes, and both would grant the
-- same numbers. A server keeps its replication backlog for an hour after its last replica left.
-- Valkey has another name for the mode.
if fact('redis_mode') .. fact('server_mode') ~= 'standalone' then
  return rejected(fact('redis_mode') == '' and 'server_mode' or 'redis_mode', 'standalone')
end
local alone = {{'role', 'master'}, {'connected_slaves', '0'}, {'repl_backlog_active', '0'}}
for _, pair in ipairs(alone) do
  if fact(pair[1]) ~= pair[2] then return rejected(pair[1], pair[2]) end
end
-- The keys have no expiry, so a policy that begins with `volatile-` removes none of them.
local policy = fact('maxmemory_policy')
if policy ~= 'noeviction' and string.sub(policy, 1, 9) ~= 'volatile-' then
  return rejected('maxmemory_policy', 'noeviction')
end
-- The first one changes when the server starts, and the second one when a replica is promoted.
local run, replication = fact('run_id'), fact('master_replid')
if #run ~= 40 or #replication ~= 40 then
  return rejected(#run ~= 40 and 'run_id' or 'master_replid', '40 hexadecimal digits')
end
local store = 'volatile:redis:' .. run .. ':' .. replication
local time = redis.call('TIME')

local reply = {'nothing', time[1], time[2], store, ''}
local function found(result, values)
  reply[1] = result
  -- A missing value is false.
  for _, value in ipairs(values) do
    if value then reply[#reply + 1] = value end
  end
end
local function set_namespace(record, incarnation)
  redis.call('SADD', names, name)
  redis.call('HSET', namespace, 'record', record, 'store', store, 'incarnation', incarnation)
end

if request == 'open' then
  -- Creates the namespace's record, with the store's name between both parts of its JSON.
  local before, after, incarnation = ARGV[3], ARGV[4], ARGV[5]
  if redis.call('EXISTS', namespace) == 0 then
    set_namespace(before .. store .. after, incarnation)
  end
elseif request == 'find' then
  -- The records with the earliest ends, up to the index `last`. Lua limits the values of a call.
  local last = ARGV[3]
  local firsts = redis.call('ZRANGE', ends, '0', last)
  reply[1] = 'records'
  for from = 1, #firsts, 1000 do
    local to = math.min(from + 999, #firsts)
    found('records', redis.call('HMGET', records, unpack(firsts, from, to)))
  end
elseif request == 'read' then
  local first = ARGV[3]
  found('records', {redis.call('HGET', records, first)})
elseif request == 'put' then
  -- Replaces a record as it was read, in the incarnation of the new record.
  local first, granted_until, old, new, incarnation = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
  local current = redis.call('HMGET', namespace, 'store', 'incarnation')
  local stored = redis.call('HGET', records, first)
  if current[1] == store and current[2] == incarnation and stored == old then
    redis.call('ZADD', ends, granted_until, first)
    redis.call('HSET', records, first, new)
    reply[1] = 'done'
  else
    found('differs', {stored})
  end
elseif request == 'put_namespace' then
  -- Replaces the namespace's record as it was read, and creates missing records, each with its
  -- number between both parts of its JSON. If the write begins an incarnation, its waiting time
  -- must not have begun earlier (R13).
  local old, new, named, incarnation = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
  local begins, quiet_until = ARGV[7], tonumber(ARGV[8])
  local count, first, step = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
  local before, after = ARGV[12], ARGV[13]
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local is_late = begins == '1' and quiet_until < now + 360000
  if redis.call('HGET', namespace, 'record') == old and named == store and not is_late then
    for index = 0, count - 1 do
      local number = first + index * step
      local member = string.format('%016.0f', number)
      redis.call('ZADD', ends, 'NX', '0', member)
      redis.call('HSETNX', records, member, before .. string.format('%.0f', number) .. after)
    end
    set_namespace(new, incarnation)
    reply[1] = 'done'
  else
    reply[1] = 'differs'
  end
elseif request == 'survey' then
  -- The number of records, and the one with the latest end that is not the end of time.
  local before, limit = '(9007199254740991', {'LIMIT', '0', '1'}
  local last = redis.call('ZREVRANGEBYSCORE', ends, before, '-inf', unpack(limit))[1]
  local count = math.min(redis.call('HLEN', records), redis.call('ZCARD', ends))
  local record = last and redis.call('HGET', records, last)
  found('survey', {string.format('%.0f', count), record or ''})
elseif request == 'list' then
  found('names', redis.call('SMEMBERS', names))
end
reply[5] = redis.call('HGET', namespace, 'record') or ''
return reply
